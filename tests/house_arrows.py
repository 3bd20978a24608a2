"""Who may import whom: each room, and what it may import. `house_imports.py` reads every import and holds them."""

from __future__ import annotations

PLAIN = (
    *("gpu.linux", "gpu.settings", "gpu.rows", "gpu.scene", "gpu.light_row", "gpu.camera", "gpu.clip", "gpu.stats"),
    *("gpu.attributes", "gpu.contours", "gpu.glyph_shapes", "gpu.gravity", "gpu.nearest_points", "gpu.primitive_views"),
    *("gpu.configuration", "gpu.errors", "gpu.region", "gpu.linux_sandbox", "gpu.node_transforms", "gpu.ray_sources"),
)

BEHIND_THE_WINDOW = (
    *("app.ui.colors", "app.ui.plain_text"),
    *("app.camera", "app.document", "app.edits", "app.export", "app.frames", "app.help", "app.playback"),
    *("app.lessons", "app.problems", "app.scene_io", "app.settings", "app.system", "app.user_files", "gpu.engine"),
    *PLAIN,
)
"""What every room of the window but the widgets may import of the rest of the program."""

# Who may import whom: the longest name that fits the importing module counts. A room always knows itself.
ARROWS: dict[str, tuple[str, ...]] = {
    "main": ("package",),
    "setup": (),
    "app": (),
    "app.cli": ("app", "bench", "gpu"),
    "app.ui": (),
    "app.ui.colors": ("app.frames.frame_history",),
    "app.ui.plain_text": (),
    "app.ui.widgets": (
        *("app.ui.colors", "app.ui.plain_text"),
        *("app.export.legend", "app.export.tables", "app.playback", "app.settings", "gpu.shade.srgb", *PLAIN),
    ),
    "app.ui.session": ("gpu.display.sphere_look", *BEHIND_THE_WINDOW),
    "app.ui.commands": ("app.ui.session", *BEHIND_THE_WINDOW),
    "app.ui.picture": ("app.ui.commands", "gpu.analysis", "gpu.display", *BEHIND_THE_WINDOW),
    "app.ui.pipeline": ("app.ui.commands", "app.ui.session", "app.ui.widgets", *BEHIND_THE_WINDOW),
    "app.ui.timeline": ("app.ui.widgets", *BEHIND_THE_WINDOW),
    "app.ui.panels": (
        *("app.ui.commands", "app.ui.picture", "app.ui.session", "app.ui.widgets", "gpu.analysis", *BEHIND_THE_WINDOW),
    ),
    "app.ui.dialogs": ("app.ui.commands", "app.ui.session", "app.ui.widgets", "gpu.analysis", *BEHIND_THE_WINDOW),
    "app.ui.messages": ("app.ui.dialogs", "app.ui.session", "app.ui.widgets", *BEHIND_THE_WINDOW),
    "app.ui.race": (
        *("app.ui.pipeline", "app.ui.picture", "app.ui.session", "app.ui.widgets", "gpu.analysis"),
        *("gpu.display.layout", "gpu.display.sphere_look", *BEHIND_THE_WINDOW),
    ),
    "app.ui.menus": (
        *("app.ui.commands", "app.ui.dialogs", "app.ui.picture", "app.ui.session", "app.ui.timeline"),
        *BEHIND_THE_WINDOW,
    ),
    "app.ui.window": ("app.ui", "gpu.display", *BEHIND_THE_WINDOW),
    "app.ui.measuring": ("app.ui", "gpu.display.sphere_look", *BEHIND_THE_WINDOW),
    "app.live": ("app.cli", "app.document", "app.scene_io", "gpu.hierarchy.registry", *PLAIN),
    "app.notebook": (
        *("app.camera", "app.export", "app.live", "app.scene_io", "gpu.analysis", "gpu.engine", "gpu.face"),
        *("gpu.hierarchy.registry", "gpu.pixels", "gpu.shade.registry", "gpu.view", "assets", *PLAIN),
    ),
    "app.lessons": ("app.scene_io", "app.settings", "gpu.analysis", "gpu.face", "gpu.shade.registry", *PLAIN),
    "app.help": ("app.edits", "app.settings", *PLAIN),
    "app.system": ("app.scene_io", "app.settings", "gpu.target", *PLAIN),
    "app.frames": (
        "app.camera",
        "app.document",
        "app.edits",
        "app.export",
        "app.playback",
        "app.problems",
        "app.settings",
        "gpu.analysis",
        "gpu.buffers",
        "gpu.animate",
        "gpu.display.sphere_look",
        "gpu.engine",
        "gpu.face.given_trees",
        "gpu.face.laboratory",
        "gpu.face.races",
        "gpu.face.workloads",
        "gpu.hierarchy.base",
        "gpu.inspector",
        "gpu.planned_units",
        "gpu.quantise",
        "gpu.target",
        "gpu.update.options",
        *PLAIN,
    ),
    "app.document": (
        "app.camera",
        "app.edits",
        "app.export",
        "app.playback",
        "app.problems",
        "app.scene_io",
        "app.settings",
        "app.user_files",
        *PLAIN,
    ),
    "app.document.scene_trees": (  # what trees of files are, the library says
        *("app.document", "app.scene_io", "app.settings", "gpu.face", "gpu.hierarchy.bvh.own.tree"),
        *("gpu.hierarchy.registry", *PLAIN),
    ),
    "app.problems": (
        "app.export",
        "app.scene_io",
        "app.settings",
        "app.user_files",
        "gpu.display.sphere_look",
        "gpu.hierarchy.base",
        "gpu.target",
        *PLAIN,
    ),
    "app.user_files": ("app.camera", "app.document.saved_state", "app.document.state", "app.settings", *PLAIN),
    "app.document.state": ("app.camera", "app.playback", "app.settings", *PLAIN),  # a plain value of the app's own
    "app.settings": (
        "app.camera",
        "app.edits",
        "app.playback",
        "app.scene_io",
        "gpu.display.sphere_look",
        "gpu.face.configured",
        "gpu.face.given_trees",
        "gpu.glyphs.options",
        "gpu.hierarchy.base",
        "gpu.hierarchy.predicted",
        "gpu.hierarchy.registry",
        "gpu.shade.registry",
        "gpu.target",
        "gpu.update",
        *PLAIN,
    ),
    "app.camera": ("app.document.state", *PLAIN),
    "app.playback": PLAIN,
    "app.edits": PLAIN,
    "app.scene_io": PLAIN,
    "app.export": ("gpu.shade.srgb", *PLAIN),
    "bench": ("app.scene_io", "gpu"),  # scenes are plain values, made or read without Qt: docs/decisions/rooms.md
    "bench.store": ("app.export.tables", "app.export.whole_files", "gpu.analysis", "gpu.errors", "gpu.linux"),
    "gpu": ("gpu",),
    "gpu.face": ("gpu", "app.scene_io"),  # files and built-in scenes, when they are asked for
    "gpu.linux": (),
    "gpu.linux_sandbox": (),
    "gpu.errors": (),
    "gpu.settings": ("gpu.errors",),
    "gpu.configuration": ("gpu.errors", "gpu.settings"),
    "gpu.ray_sources": ("gpu.configuration", "gpu.errors", "gpu.settings"),
    "gpu.rows": (),
    "gpu.scene": ("gpu.settings", "gpu.glyph_shapes", "gpu.gravity"),
    "gpu.node_transforms": ("gpu.scene",),
    "gpu.light_row": ("gpu.rows",),
    "gpu.camera": ("gpu.rows",),
    "gpu.clip": ("gpu.camera", "gpu.rows", "gpu.settings"),
    "gpu.stats": (),
    "gpu.region": ("gpu.rows",),
    "gpu.target": PLAIN,
    "gpu.primitives": ("gpu.target",),
    "gpu.animate": (
        *("gpu.nbody", "gpu.primitives", "gpu.target", "gpu.hierarchy.base", "gpu.hierarchy.primitives", *PLAIN),
    ),
    "gpu.hierarchy": ("gpu.primitives", "gpu.target", *PLAIN),
    "gpu.hierarchy.base": ("gpu.target", *PLAIN),
    "gpu.trace": ("gpu.hierarchy.base", "gpu.primitives", "gpu.target", *PLAIN),
    "gpu.query": ("gpu.hierarchy.base", "gpu.primitives", "gpu.target", *PLAIN),
    "gpu.nbody": ("gpu.hierarchy.octree.point_tree", "gpu.primitives", "gpu.target", *PLAIN),
    "gpu.quantise": ("gpu.hierarchy.octree.point_tree", "gpu.target", *PLAIN),
    "gpu.glyphs": ("gpu.trace", "gpu.hierarchy.base", "gpu.target", *PLAIN),
    "gpu.radiosity": (
        *("gpu.trace", "gpu.hierarchy.base", "gpu.hierarchy.octree", "gpu.primitives", "gpu.target", *PLAIN),
    ),
    "gpu.shade": (
        "gpu.radiosity",
        "gpu.trace",
        "gpu.animate",
        "gpu.hierarchy.base",
        "gpu.primitives",
        "gpu.target",
        *PLAIN,
    ),
    "gpu.display": ("gpu.target", "gpu.settings", "gpu.clip"),
    "gpu.update": ("gpu.hierarchy.base", *PLAIN),
    "package": ("app", "bench", "gpu"),
    "package.testing": ("gpu",),
    "tests": ("app", "gpu", "bench", "package", "main"),
    "tests.gpu": ("gpu", "package.testing", "tests"),
}
EVERYWHERE = ("package.version", "package.checkout", "package.program", "package.printable")
"""What every room but gpu may import of the package itself."""
# What the arrows above would allow and the design does not.
NEVER = (
    (r"gpu\.(?!display)", r"gpu\.display"),
    (r"gpu\.(trace|query|glyphs)", r"gpu\.hierarchy\.(?!base)"),
    (r"app\.ui", r"app\.cli\b"),
    # Who works in the window takes the session, not the window.
    (r"app\.ui\.(?!window\.application$)", r"app\.ui\.window\.main_window"),
    (r"app\.ui\.window", r"app\.ui\.measuring"),
    (r"app\.ui(\.\w+)?$", r"app\.ui\."),  # the window's files stand in its rooms
    (r"tests\.gpu", r"tests\.app|app\b"),
)

# One library, one room: who may import what. Tests may import what the room that they mirror may.
