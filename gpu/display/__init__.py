"""From a finished picture to the screen: the only room of OpenGL. Import the module you need; this package imports
nothing.

pixel_buffer   a GL buffer that CUDA writes         cuda_gl   the interop's calls, with events both ways
presenter      buffer or memory -> texture -> screen        layout   where in a widget the picture goes        gl
PyOpenGL, set up
"""
