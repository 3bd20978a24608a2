"""A sentence for each command, shown in the status bar while the pointer is over it in its menu."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QAction

HINTS = {
    "file.open": "Open a model, the key frames of one, a saved picture or a file of settings.",
    "file.reload": "Read the open files again; the camera and the playing head stay.",
    "file.watch": "Read the open files again whenever one of them is written.",
    "file.close": "Close the scene, give the device's memory back, and show the welcome page.",
    "file.welcome": "Show the built-in scenes and the files opened last; the scene stays open.",
    "file.picture": "Save what the window shows as PNG, with the state that brings it back.",
    "file.export": "Write pictures, a video, depth and normals, or tables in the background.",
    "file.quit": "End the program; what runs in the background is cancelled.",
    "edit.undo": "Take back the last change of a setting, a camera or the timeline.",
    "edit.redo": "Do again what was taken back.",
    "edit.copy_command": "Put a command on the clipboard that draws this picture without a window.",
    "edit.copy_configuration": "Put the settings that draw this picture on the clipboard, as a settings file.",
    "edit.keys": "Assign other keys to commands, choices and mouse gestures.",
    "edit.settings": "Every setting with its range; the picture follows at once.",
    "view.reset_layout": "Put the panels back to their places, and show silenced messages again.",
    "view.full_screen": "The picture alone on the whole screen, and back.",
    "camera.focus": "Look at what lies under the pointer, and come near.",
    "camera.fit": "See the whole scene from the present direction.",
    "camera.reset": "Stand where the scene was first seen from.",
    "camera.orthographic": "Parallel rays, or perspective.",
    "camera.narrower": "See less, larger.",
    "camera.wider": "See more, smaller.",
    "camera.next_up_axis": "Let another axis of the model point upwards.",
    "camera.faster": "Fly faster.",
    "camera.slower": "Fly slower.",
    "camera.bookmark": "Keep where the camera stands under a name.",
    "animation.play": "Play the animation, or pause it.",
    "animation.step": "Go on by one frame.",
    "animation.step_back": "Go back by one frame.",
    "animation.first": "Go to the first frame.",
    "animation.last": "Go to the last frame.",
    "animation.next_key": "Go to the next key frame.",
    "animation.previous_key": "Go to the previous key frame.",
    "animation.reverse": "Play backwards, or forwards again.",
    "animation.faster": "Play twice as fast.",
    "animation.slower": "Play half as fast.",
    "scene.collisions": "Mark the triangles and spheres of different objects that touch, and count the pairs.",
    "scene.periodic_box": "Draw the periodic box that a file of particles has, and its copies, over the picture.",
    "tiles.draw_grid": "Draw the tiles that find the first hits of spheres, else those that the settings ask for.",
    "tiles.draw_boxes": "Draw the pixels that spheres can be seen in as boxes, of the selected object or of all.",
    "structure.boxes": "Draw the boxes of the structure's nodes over the picture.",
    "structure.quality": (
        "Measure overlap (EPO), leaf variability and the nodes of each level; the statistics show them."
    ),
    "structure.options": "The settings of the structure that is chosen.",
    "render.options": "The settings of the ray type that is chosen.",
    "help.palette": "Find any command by a few letters, and change any setting in place.",
    "help.cheat_sheet": "All keys and gestures, as they are bound now.",
    "help.structure": "Idea, paper, cost and limits of the structure that is chosen.",
    "help.ray_type": "Idea, paper, cost and limits of the ray type that is chosen.",
    "help.report": "Put what this machine can do on the clipboard, for a report.",
    "help.about": "What this program is.",
}


def give(actions: Mapping[str, QAction]) -> None:
    """Give every command its sentence; where none stands here, its tooltip or its name."""
    for name, action in actions.items():
        text = action.text().replace("&", "").rstrip("…")
        sentence = QCoreApplication.translate("Hints", HINTS[name]) if name in HINTS else action.toolTip()
        if name.startswith("view.dock."):
            sentence = QCoreApplication.translate("Hints", "Show or hide the panel {name}.").format(name=text)
        elif (
            name.startswith("camera.")
            and name not in HINTS
            and action.property("menu") is None
            and "bookmark" not in name
        ):
            sentence = f"{QCoreApplication.translate('Hints', 'Camera')}: {text}."
        if not action.statusTip():
            action.setStatusTip(sentence or text)
