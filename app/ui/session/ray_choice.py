"""The choice of rays that are measured, made in the window and kept in the settings: typed, of a file, or recorded."""

from __future__ import annotations

import dataclasses
import os

import numpy as np
from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QFileDialog, QInputDialog, QWidget

from raygrove.app.document.jobs import Job
from raygrove.app.playback import timeline as timelines
from raygrove.app.settings.ray_options import MEASURED, from_folder
from raygrove.app.ui.session.session import Session
from raygrove.gpu.brief import filled
from raygrove.gpu.settings import OptionError

KEY = f"settings.{MEASURED}"
MOST_NODES = 200


def tr(text: str) -> str:
    """A text in the user's language."""
    return QCoreApplication.translate("RayChoice", text)


def choose(session: Session, text: str) -> str:
    """Measure these rays from now on, a step of undo; what is wrong with the text, empty for nothing. A file is kept as
    it is called from anywhere: settings, presets and pictures are saved in other folders."""
    try:
        session.document.change(KEY, from_folder(text, os.getcwd()))
    except OptionError as error:
        return str(error)
    return ""


def _choose_file(session: Session, path: str) -> None:
    mistake = choose(session, path)
    if mistake:
        session.notices.show("warning", mistake)


def eye_of(session: Session) -> tuple[float, float, float]:
    """Where the camera is, in the file's coordinates."""
    scene, camera = session.document.scene, session.document.state.camera_of(0)
    x, y, z = (np.array(camera.eye) + (scene.origin if scene is not None else (0.0, 0.0, 0.0))).tolist()
    return x, y, z


def nodes_of(session: Session) -> tuple[str, ...]:
    """The names of nodes that are told apart by them."""
    scene = session.document.scene
    names = [node.name for node in scene.nodes if node.name] if scene is not None else []
    return tuple(name for name in names if names.count(name) == 1)[:MOST_NODES] if len(names) < 2000 else ()


def places(session: Session) -> tuple[tuple[float, float, float], tuple[str, ...]]:
    """Where a sensor can be: the camera's place, and nodes."""
    return eye_of(session), nodes_of(session)


def ask_for_file(session: Session, parent: QWidget) -> None:
    """Ask which file has the rays, and measure those."""
    path, _ = QFileDialog.getOpenFileName(parent, tr("Measure the rays of a file"), "", tr("Rays (*.npz)"))
    if path:
        _choose_file(session, path)


def ask_to_record(session: Session, parent: QWidget) -> None:
    """Ask which of the picture's rays are kept, and in which file; then measure those."""
    from raygrove.app.frames.recording import NAMES  # with an engine of its own

    name, is_chosen = QInputDialog.getItem(parent, tr("Record the picture's rays"), tr("Which rays:"), NAMES, 0, False)
    if not is_chosen:
        return
    path, _ = QFileDialog.getSaveFileName(parent, tr("Keep the rays"), f"{name.replace(' ', '-')}.npz", "*.npz")
    if path:
        start_recording(session, name, path if path.lower().endswith(".npz") else f"{path}.npz")


def start_recording(session: Session, name: str, path: str) -> Job | None:
    """Keep the picture's rays of that name in a file, in the background, and measure those: a step of undo. The
    animation pauses, as both would use the same machine."""
    document, frame = session.document, session.loop.last_frame
    if document.scene is None or frame is None:
        session.notices.show(
            "warning", tr("There is no picture yet whose rays could be recorded: wait for the first one.")
        )
        return None
    if document.state.timeline.is_playing:
        document.change("timeline", timelines.pause(document.state.timeline))
    scene, state = document.scene, document.state
    render = dataclasses.replace(state.settings.render, width=frame.drawn[0], height=frame.drawn[1])
    drawn = dataclasses.replace(state, settings=dataclasses.replace(state.settings, render=render))

    def done(job: Job) -> None:
        is_again = document.state.settings.rays.measured == from_folder(path, os.getcwd())
        _choose_file(session, path)
        if is_again:  # the settings are the same, and the rays are others
            session.loop.retry()
        session.notices.tell(filled(tr("Recorded {count:,} rays: {path}."), count=job.result, path=path))

    from raygrove.app.frames.recording import record  # with an engine of its own

    return document.start_job(tr("Recording rays"), lambda job: record(job, scene, drawn, name, path), done)
