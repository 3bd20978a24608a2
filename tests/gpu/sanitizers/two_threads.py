"""The library by two threads, for ThreadSanitizer: each with a scene and a tree on a device of its own at the same
time; then both on one tree, where whoever comes second is told."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from raygrove.gpu.errors import Error
from raygrove.gpu.face.building import build
from raygrove.gpu.face.rays import RaySet
from raygrove.gpu.face.scenes import Scene
from raygrove.gpu.target.base import Target

STEPS = 12
TRIANGLES = 600
_RANDOM = np.random.default_rng(8)
VERTICES_OF = _RANDOM.random((3 * TRIANGLES, 3), np.float32)
CORNERS = np.arange(3 * TRIANGLES, dtype=np.int32).reshape(-1, 3)
ORIGINS, DIRECTIONS = _RANDOM.random((500, 3)), _RANDOM.normal(size=(500, 3))


def run_two_threads(make_target: Callable[[], Target]) -> None:
    """See the module. AssertionError where a result is another than one thread's."""
    targets = [make_target(), make_target()]
    expected = _loop(targets[0])
    found: dict[int, list[np.ndarray]] = {}

    def run(place: int) -> None:
        found[place] = _loop(targets[place])

    _together([lambda: run(0), lambda: run(1)])
    assert len(found) == 2
    for steps in found.values():
        assert len(steps) == STEPS and all(np.array_equal(*pair) for pair in zip(steps, expected, strict=True))
    _both_on_one(targets[0])
    for target in targets:
        target.close()


def _loop(target: Target) -> list[np.ndarray]:
    """A scene that moves, its tree updated and traced in every step."""
    found, vertices = [], VERTICES_OF.copy()
    with Scene(target=target) as scene:
        mesh = scene.add_mesh(vertices, CORNERS)
        with build(scene, "lbvh@refit") as tree:
            for _ in range(STEPS):
                vertices += np.float32(0.01)
                mesh.vertices = vertices
                tree.update()
                found.append(np.array(tree.trace(RaySet(ORIGINS, DIRECTIONS)).prim_id))
    return found


def _both_on_one(target: Target) -> None:
    """Two threads on one tree: each call is whole or refused."""
    rays, told, whole = RaySet(ORIGINS, DIRECTIONS), [], []
    with build((VERTICES_OF, CORNERS), "lbvh", target=target) as tree:
        expected = np.array(tree.trace(rays).prim_id)

        def ask() -> None:
            for _ in range(20 * STEPS):
                try:
                    whole.append(np.array_equal(np.array(tree.trace(rays).prim_id), expected))
                except Error as error:
                    told.append(str(error))

        _together([ask, ask])
    assert whole and all(whole) and len(whole) + len(told) == 40 * STEPS
    assert all("another thread is using the device" in sentence for sentence in told)


def _together(bodies: list[Callable[[], object]]) -> None:
    """Run all at once; the first failure of any is raised here."""
    failed: list[BaseException] = []

    def run(body: Callable[[], object]) -> None:
        try:
            body()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(body,)) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
