"""The library's face, `import raygrove as rg`: scenes, trees, rays and pictures from arrays of Python.

Nothing outside imports from here but `package/__init__.py`, which gives every public name of it.
"""
