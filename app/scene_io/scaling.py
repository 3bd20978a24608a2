"""`import.scale`: every length of a scene times one number, without touching its vertices."""

from __future__ import annotations

import dataclasses

from raygrove.gpu.scene import Channel, Clip, Light, Mesh, Node, Scene, SceneCamera

Triple = tuple[float, float, float]


def scaled(scene: Scene, scale: float) -> Scene:
    """The scene `scale` times as large about the zero of its file: one node above all others scales them, so that
    animation, skins and key frames follow. A point light's intensity grows with the square, so that what it lights
    stays as bright."""
    if scale == 1.0:
        return scene
    nodes = (
        Node("import.scale", scale=(scale, scale, scale)),
        *(dataclasses.replace(node, parent=node.parent + 1) for node in scene.nodes),
    )
    return dataclasses.replace(
        scene,
        nodes=nodes,
        meshes=tuple(_with_joints(mesh) for mesh in scene.meshes),
        objects=tuple(dataclasses.replace(thing, node=thing.node + 1) for thing in scene.objects),
        lights=tuple(_light(light, scale) for light in scene.lights),
        cameras=tuple(SceneCamera(camera.name, camera.node + 1, camera.fov) for camera in scene.cameras),
        clips=tuple(
            Clip(clip.name, clip.duration, tuple(_channel(channel) for channel in clip.channels))
            for clip in scene.clips
        ),
        origin=_times(scene.origin, scale),
        lower=_times(scene.lower, scale),
        upper=_times(scene.upper, scale),
        eye=None if scene.eye is None else _times(scene.eye, scale),
        look_at=None if scene.look_at is None else _times(scene.look_at, scale),
    )


def _with_joints(mesh: Mesh) -> Mesh:
    if mesh.skin is None:
        return mesh
    return dataclasses.replace(mesh, skin=dataclasses.replace(mesh.skin, joints=mesh.skin.joints + 1))


def _light(light: Light, scale: float) -> Light:
    """A light at a node is moved and, with its radius and edges, scaled by the node; one of the scene's own is scaled
    here."""
    color = light.color if light.kind == "directional" else _times(light.color, scale * scale)
    if light.node >= 0:
        return dataclasses.replace(light, color=color, node=light.node + 1)
    size = (light.size[0] * scale, light.size[1] * scale)
    return dataclasses.replace(
        light, color=color, position=_times(light.position, scale), radius=light.radius * scale, size=size
    )


def _channel(channel: Channel) -> Channel:
    return dataclasses.replace(channel, node=channel.node + 1)


def _times(vector: Triple, scale: float) -> Triple:
    x, y, z = vector
    return (x * scale, y * scale, z * scale)
