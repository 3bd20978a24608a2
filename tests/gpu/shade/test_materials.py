"""Materials as kernels read them: records, what no material needs, what shines, and textures that are too many."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from gpu.scene import Material, Object, Scene, Texture
from gpu.shade.emitters import emitter_table
from gpu.shade.materials import (
    HAS_ALPHA,
    HAS_GLASS,
    HAS_NORMAL_MAPS,
    HAS_ONE_SIDED_LAMPS,
    HAS_OTHER_MAPS,
    Materials,
    features_of,
    material_records,
    texture_atlas,
)
from gpu.target.base import Target

from .pictures import scene_of, square


def test_a_record_says_what_is_absorbed_and_what_alpha_does() -> None:
    glass = Material("", transmission=1.0, ior=1.3, attenuation_color=(0.5, 1.0, 0.0), attenuation_distance=2.0, base_color=(1.0, 1.0, 1.0, 0.25))
    rows = material_records(
        (glass, dataclasses.replace(glass, alpha_mode="mask", alpha_cutoff=0.0), dataclasses.replace(glass, alpha_mode="blend")), 0
    )
    assert np.allclose(np.exp(-2.0 * rows[0, 12:15]), (0.5, 1.0, 1e-4)) and (rows[0, 10], rows[0, 11]) == (1.0, np.float32(1.3))
    assert rows[:, 3].tolist() == [1.0, 0.25, 0.25] and rows[0, 15] == -1.0 and rows[1, 15] > 0.0 and rows[2, 15] == 0.0
    assert np.isfinite(rows).all() and (material_records((Material(base_color_texture=3, normal_texture=0),), 1)[0, [7, 17]] == [-1.0, 0.0]).all()


def test_features_are_those_of_any_material() -> None:
    wanted = {
        HAS_ALPHA: Material(alpha_mode="blend"),
        HAS_GLASS: Material(transmission=0.1),
        HAS_NORMAL_MAPS: Material(normal_texture=0),
        HAS_OTHER_MAPS: Material(emission_texture=0),
        HAS_ONE_SIDED_LAMPS: Material(emission=(0.0, 1.0, 0.0), is_double_sided=False),
    }
    for feature, material in wanted.items():
        assert features_of(material_records((Material(), material), 1)) == feature
    assert features_of(material_records(tuple(wanted.values()), 1)) == sum(wanted) and features_of(material_records((Material(),), 1)) == 0
    assert features_of(material_records((Material(is_double_sided=False), Material(emission=(1.0, 1.0, 1.0))), 1)) == 0


def test_triangles_that_shine_are_listed_by_area_and_brightness() -> None:
    lamp, bright = Material(emission=(1.0, 1.0, 1.0)), Material(emission=(3.0, 3.0, 3.0))
    small, large = square(0.5), dataclasses.replace(square(1.0), material_ids=np.array([1, 2], np.int32))
    scene = Scene("", meshes=(large, small), objects=(Object(0, 0), Object(0, 1), Object(0, 0)))
    ids, cdf = emitter_table(scene, (Material(), lamp, bright))
    assert ids.tolist() == [0, 1, 4, 5] and np.allclose(cdf, np.array([2.0, 8.0, 10.0, 16.0]) / 16.0)
    # A lamp of one side sends out half as much.
    halved = emitter_table(scene, (Material(), dataclasses.replace(lamp, is_double_sided=False), bright))[1]
    assert np.allclose(halved, np.array([1.0, 7.0, 8.0, 14.0]) / 14.0)
    assert emitter_table(scene, (Material(),) * 3)[0].size == 0


def test_materials_that_change_keep_their_arrays_where_they_can(target: Target) -> None:
    materials = Materials(target, scene_of(square(1.0), materials=(Material(emission=(1.0, 1.0, 1.0)),)))
    generation = materials.generation
    materials.change((Material(emission=(2.0, 2.0, 2.0), roughness=0.25),))
    assert materials.generation == generation and target.download(materials.records)[0, 9] == 0.25 and materials.emitter_count == 2
    materials.change((Material(transmission=1.0),))
    assert materials.generation > generation and materials.features == HAS_GLASS and materials.emitter_count == 0


def test_more_texels_than_can_be_told_apart_are_refused() -> None:
    large = Texture("large", np.broadcast_to(np.uint8(0), (32768, 32768, 4)))
    with pytest.raises(ValueError, match=r"texture_size"):
        texture_atlas((large, large))
