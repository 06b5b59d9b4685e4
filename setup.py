"""Adds the compiled module and the simulator to the build; everything else is in pyproject.toml."""
import os, sys; sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from build_acl import BuildExt
from setuptools import Extension, setup
setup(cmdclass={"build_ext": BuildExt}, ext_modules=[Extension("acl._acl", sources=[])])
