# Drives everything; settings live in Config.mak.  `make run` and `make test` work on a fresh machine.
include Config.mak

VENV     := .venv
BIN      := $(VENV)/bin
RUN_INP  := inp/tutorial/three-basic-geometric-objects.py
RUN_OUT  := out/tutorial/three-basic-geometric-objects
PACKAGES := 'pip>=23.1' meson-python meson ninja numpy scipy h5py matplotlib fissix tetgen meshio netCDF4 coacd cvxopt
VIEWING  := PyOpenGL PyOpenGL-accelerate glfw imgui-bundle pillow
MPI_OF   := mpi4py mpich
SITE     := sphinx furo myst-parser sphinx-copybutton latex2mathml
TESTING  := pytest hypothesis pytest-timeout pytest-xdist pyvista mypy pandas xarray nbclient ipykernel

comma := ,
empty :=
space := $(empty) $(empty)
SETUP := -Csetup-args=-Dopenmp=$(if $(filter yes,$(OPENMP)),true,false) \
         -Csetup-args=-Dchecks=$(if $(filter yes,$(DEBUG)),true,false) -Ceditable-verbose=true
ifneq ($(strip $(FFLAGS)),)
SETUP += "-Csetup-args=-Dkernel_flags=[$(subst $(space),$(comma),$(patsubst %,'%',$(FFLAGS)))]"
endif
export OMP_NUM_THREADS := $(if $(THREADS),$(THREADS),$(OMP_NUM_THREADS))
ifeq ($(OMP_NUM_THREADS),)
unexport OMP_NUM_THREADS
endif

.PHONY: FORCE all build run viewer view mpi site test test-mpi test-slow test-checks mutants bench clean lint settings

all: build $(VENV)/.testing

# The editable install reads bytecode but does not save any: without the last line every start would compile all modules.
build: $(BIN)/.built $(if $(filter yes,$(SICONOS)),$(VENV)/.siconos) $(if $(filter yes,$(MPI)),$(VENV)/.mpi)
	@$(BIN)/python -m compileall -q solfec abaqusreader.py parmec.py

# Before anything else: settings that nothing would obey are refused.
settings:
	@sh tools/check-settings.sh 'PYTHON=$(PYTHON)' 'FC=$(FC)' 'FFLAGS=$(strip $(FFLAGS))' 'DEBUG=$(DEBUG)' 'OPENMP=$(OPENMP)' 'THREADS=$(THREADS)' \
	  'BLAS=$(BLAS)' 'LAPACK=$(LAPACK)' 'HDF5=$(HDF5)' 'SICONOS=$(SICONOS)' 'MPI=$(MPI)'

# System packages: installed when we are root, named otherwise.
$(VENV)/.system: | settings
	@sh tools/system-packages.sh "$(PYTHON)" "$(firstword $(FC))"
	@"$(PYTHON)" -m venv $(VENV)
	@pwd -P > $(VENV)/.place
	@touch $@

$(VENV)/.siconos: | $(VENV)/.system
	@sh tools/system-packages.sh "$(PYTHON)" "$(firstword $(FC))" yes
	@touch $@

# Packages: those that the program uses, and, apart from them because VTK is large, those that the tests use.
install = $(BIN)/python -m pip install --quiet --disable-pip-version-check $(1) || { \
	  echo "Python packages could not be installed.  Without a connection to PyPI name a directory that holds them:" >&2; \
	  echo "  make PIP_NO_INDEX=1 PIP_FIND_LINKS=/the/directory" >&2; exit 1; }

$(VENV)/.packages: $(VENV)/.system pyproject.toml
	@echo "installing Python packages"
	@$(call install,$(PACKAGES))
	@touch $@

$(VENV)/.testing: $(VENV)/.packages
	@echo "installing Python packages for the tests"
	@$(call install,$(TESTING))
	@touch $@

# A change of settings, here or in Config.mak, rebuilds from scratch, and so does a build directory that is gone; sources are watched by the build itself.
SETTINGS := $(FC)|$(FFLAGS)|$(DEBUG)|$(OPENMP)
$(VENV)/.settings: FORCE | $(VENV)/.packages
	@if [ "$$(cat $@ 2>/dev/null)" != '$(SETTINGS)' ] || ! ls build/*/build.ninja >/dev/null 2>&1; then rm -rf build; printf '%s' '$(SETTINGS)' > $@; fi

# Type checkers and editors read no import hooks, which an editable installation is: a link in a directory of its own shows them the sources.
$(BIN)/.built: $(VENV)/.packages $(VENV)/.settings meson.build meson_options.txt solfec/meson.build \
               fortran/meson.build pyproject.toml $(shell find fortran -name '*.f90') | settings
	@echo "building the kernels"
	@PATH="$(CURDIR)/$(BIN):$$PATH" FC="$(FC)" $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation $(SETUP) -e .
	@mkdir -p $(VENV)/typing && ln -sfn "$(CURDIR)/solfec" $(VENV)/typing/solfec
	@echo "$(CURDIR)/$(VENV)/typing" > "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/solfec-types.pth"
	@touch $@

FORCE:

run: build
	$(BIN)/solfec -y -w $(RUN_INP)
	$(BIN)/python -m solfec.results.plot $(RUN_OUT)
	@echo "results: $(RUN_OUT)"

# What the viewer needs: OpenGL without a display, and its Python packages.
viewer: build $(VENV)/.viewer

$(VENV)/.viewer: $(VENV)/.packages
	@sh tools/system-packages.sh "$(PYTHON)" "$(firstword $(FC))" no yes
	@echo "installing Python packages for the viewer"
	@$(call install,$(VIEWING))
	@touch $@

view: viewer
	@[ -d $(RUN_OUT) ] || { echo "there are no results yet: make run" >&2; exit 1; }
	$(BIN)/solfec view $(RUN_OUT) $(if $(DISPLAY),,--screenshot $(RUN_OUT)/picture.png)

# What runs in several processes need: MPI's Python package, and MPICH with its mpiexec.
mpi: build $(VENV)/.mpi

$(VENV)/.mpi: $(VENV)/.packages
	@echo "installing MPI"
	@$(call install,$(MPI_OF))
	@touch $@

# The documents as web pages in build/site/html; a warning or a dead link is an error.
site: build $(VENV)/.site
	$(BIN)/python docs/site/build.py

$(VENV)/.site: $(VENV)/.packages
	@echo "installing Python packages for the site"
	@$(call install,$(SITE))
	@touch $@

test-mpi: all mpi
	OMP_WAIT_POLICY=passive $(BIN)/python -m pytest -q -m "slow or not slow" tests/parallel

test: all
	OMP_WAIT_POLICY=passive $(BIN)/python -m pytest -q --numprocesses auto --maxprocesses 8

test-slow: all
	HYPOTHESIS_PROFILE=explore OMP_WAIT_POLICY=passive $(BIN)/python -m pytest -q -m "slow or not slow"

# The same tests with kernels that check bounds of arrays and floating-point numbers, in a copy of the last commit
test-checks:
	rm -rf build/checks
	git clone -q . build/checks
	$(MAKE) -C build/checks all DEBUG=yes
	OMP_WAIT_POLICY=passive build/checks/.venv/bin/python -m pytest -q --numprocesses auto --maxprocesses 8 --rootdir build/checks build/checks/tests

# Small faults, one by one: does tests/laws catch them?  An hour of a core (tools/mutants.py)
mutants: all
	$(BIN)/python tools/mutants.py

bench: build
	$(BIN)/python benchmarks/run.py

lint: $(VENV)/.packages
	@$(call install,ruff)
	$(BIN)/ruff check solfec tests benchmarks tools

clean:
	rm -rf build $(VENV) .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
