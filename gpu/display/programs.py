"""GL programs from the files in shaders/. All calls come from the thread whose GL context is current."""

from __future__ import annotations

from pathlib import Path

from .gl import GL

_SHADERS = Path(__file__).resolve().parents[2] / "shaders"
_VERSION = "#version 330 core"


class PresenterError(RuntimeError):
    """The GL context cannot draw the picture; the message holds the driver's text."""


def link(vertex: tuple[str, ...], fragment: tuple[str, ...]) -> int:
    """A program of a vertex and a fragment shader, each made of the files named, one behind the other."""
    program = GL.glCreateProgram()
    shaders = [_compile(vertex, GL.GL_VERTEX_SHADER), _compile(fragment, GL.GL_FRAGMENT_SHADER)]
    for shader in shaders:
        GL.glAttachShader(program, shader)
    GL.glLinkProgram(program)
    for shader in shaders:
        GL.glDetachShader(program, shader)
        GL.glDeleteShader(shader)
    if not GL.glGetProgramiv(program, GL.GL_LINK_STATUS):
        raise PresenterError(f"The display shaders did not link: {_text(GL.glGetProgramInfoLog(program))}")
    return int(program)


def _compile(names: tuple[str, ...], kind: int) -> int:
    shader = GL.glCreateShader(kind)
    GL.glShaderSource(shader, "\n".join((_VERSION, *((_SHADERS / name).read_text("utf-8") for name in names))))
    GL.glCompileShader(shader)
    if not GL.glGetShaderiv(shader, GL.GL_COMPILE_STATUS):
        raise PresenterError(f"The shader {names[-1]} did not compile: {_text(GL.glGetShaderInfoLog(shader))}")
    return int(shader)


def _text(log: bytes | str) -> str:
    return log.decode("utf-8", "replace") if isinstance(log, bytes) else str(log)
