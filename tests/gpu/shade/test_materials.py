"""Materials as kernels read them: records, what no material needs, what shines, and textures that are too many."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from raygrove.gpu.scene import Material, Object, Scene, Texture
from raygrove.gpu.shade.emitters import emitter_table
from raygrove.gpu.shade.material_row import (
    ALPHA_IS_A_SHARE,
    ALPHA_IS_IGNORED,
    NO_TEXTURE,
    MaterialFeatures,
    MaterialRow,
)
from raygrove.gpu.shade.materials import Materials, features_of, material_rows, texture_atlas
from raygrove.gpu.target.base import Target

from .pictures import scene_of, square


def test_a_record_says_what_is_absorbed_and_what_alpha_does() -> None:
    glass = Material(
        "",
        transmission=1.0,
        ior=1.3,
        attenuation_color=(0.5, 1.0, 0.0),
        attenuation_distance=2.0,
        base_color=(1.0, 1.0, 1.0, 0.25),
    )
    opaque, cut, thinned = material_rows(
        (
            glass,
            dataclasses.replace(glass, alpha_mode="mask", alpha_cutoff=0.0),
            dataclasses.replace(glass, alpha_mode="blend"),
        ),
        0,
    )
    assert np.allclose(np.exp(-2.0 * np.array(opaque.absorption)), (0.5, 1.0, 1e-4))
    assert (opaque.transmission, opaque.ior) == (1.0, 1.3)
    assert [row.alpha for row in (opaque, cut, thinned)] == [1.0, 0.25, 0.25]
    assert (opaque.alpha_rule, thinned.alpha_rule) == (ALPHA_IS_IGNORED, ALPHA_IS_A_SHARE) and cut.alpha_rule > 0.0
    assert all(np.isfinite(row.numbers()).all() for row in (opaque, cut, thinned))
    (row,) = material_rows((Material(base_color_texture=3, normal_texture=0),), 1)
    assert (row.base_color_texture, row.normal_texture) == (NO_TEXTURE, 0)


def test_the_record_of_a_material_is_its_row(target: Target) -> None:
    scene = scene_of(square(1.0), materials=(Material(), Material(roughness=0.25, transmission=0.5)))
    records = target.download(Materials(target, scene).records)
    place = MaterialRow.places()
    assert records.shape == (2, place["FLOATS"])
    assert records[1, place["roughness"]] == 0.25 and records[1, place["transmission"]] == 0.5


def test_features_are_those_of_any_material() -> None:
    wanted = {
        MaterialFeatures.ALPHA: Material(alpha_mode="blend"),
        MaterialFeatures.GLASS: Material(transmission=0.1),
        MaterialFeatures.NORMAL_MAPS: Material(normal_texture=0),
        MaterialFeatures.OTHER_MAPS: Material(emission_texture=0),
        MaterialFeatures.ONE_SIDED_LAMPS: Material(emission=(0.0, 1.0, 0.0), is_double_sided=False),
    }
    for feature, material in wanted.items():
        assert features_of(material_rows((Material(), material), 1)) == feature
    assert (
        features_of(material_rows(tuple(wanted.values()), 1)) == sum(wanted)
        and features_of(material_rows((Material(),), 1)) == 0
    )
    assert features_of(material_rows((Material(is_double_sided=False), Material(emission=(1.0, 1.0, 1.0))), 1)) == 0


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
    assert (
        materials.generation == generation
        and target.download(materials.records)[0, MaterialRow.places()["roughness"]] == 0.25
        and materials.emitter_count == 2
    )
    materials.change((Material(transmission=1.0),))
    assert (
        materials.generation > generation
        and materials.features == MaterialFeatures.GLASS
        and materials.emitter_count == 0
    )


def test_more_texels_than_can_be_told_apart_are_refused() -> None:
    large = Texture("large", np.broadcast_to(np.uint8(0), (32768, 32768, 4)))
    with pytest.raises(ValueError, match=r"texture_size"):
        texture_atlas((large, large))
