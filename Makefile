# Drives everything; settings live in Config.mak.  `make run` and `make test` work on a fresh machine.
include Config.mak

VENV     := .venv
BIN      := $(VENV)/bin
RUN_INP  := inp/tutorial/three-basic-geometric-objects.py
RUN_OUT  := out/tutorial/three-basic-geometric-objects
PACKAGES := 'pip>=23.1' meson-python meson ninja numpy scipy h5py matplotlib fissix
TESTING  := pytest hypothesis pytest-timeout pytest-xdist tetgen meshio netCDF4 coacd cvxopt pyvista mypy

comma := ,
empty :=
space := $(empty) $(empty)
SETUP := -Csetup-args=-Dopenmp=$(if $(filter yes,$(OPENMP)),true,false) \
         -Csetup-args=-Dchecks=$(if $(filter yes,$(DEBUG)),true,false)
ifneq ($(strip $(FFLAGS)),)
SETUP += "-Csetup-args=-Dkernel_flags=$(subst $(space),$(comma),$(strip $(FFLAGS)))"
endif
export OMP_NUM_THREADS := $(if $(THREADS),$(THREADS),$(OMP_NUM_THREADS))
ifeq ($(OMP_NUM_THREADS),)
unexport OMP_NUM_THREADS
endif

.PHONY: FORCE all run test test-slow bench clean lint unsupported

# The editable install reads bytecode but does not save any: without the last line every start would compile all modules.
all: $(BIN)/.built $(if $(filter yes,$(SICONOS)),$(VENV)/.siconos)
	@$(BIN)/python -m compileall -q solfec abaqusreader.py

unsupported:
	@for part in MPI=$(MPI) OPENGL=$(OPENGL); do \
	  case $$part in *=yes) echo "Config.mak: $$part is not built yet; set it to no" >&2; exit 1;; esac; done
	@test -z "$(strip $(PARMEC))" || { echo "Config.mak: PARMEC is not built yet; leave it empty" >&2; exit 1; }
	@test "$(FC)" = gfortran || command -v "$(firstword $(FC))" >/dev/null || { echo "Config.mak: there is no Fortran compiler $(FC)" >&2; exit 1; }

# System packages: installed when we are root, named otherwise.
$(VENV)/.system: | unsupported
	@sh tools/system-packages.sh "$(PYTHON)" "$(FC)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.siconos: | $(VENV)/.system
	@sh tools/system-packages.sh "$(PYTHON)" "$(FC)" yes
	@touch $@

$(VENV)/.packages: $(VENV)/.system pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(PACKAGES) $(TESTING)
	@touch $@

# A change of settings, here or in Config.mak, rebuilds from scratch; sources are watched by the build itself.
SETTINGS := $(FC)|$(FFLAGS)|$(DEBUG)|$(OPENMP)
$(VENV)/.settings: FORCE | $(VENV)/.packages
	@if [ "$$(cat $@ 2>/dev/null)" != '$(SETTINGS)' ]; then rm -rf build; printf '%s' '$(SETTINGS)' > $@; fi

$(BIN)/.built: $(VENV)/.packages $(VENV)/.settings meson.build meson_options.txt solfec/meson.build \
               fortran/meson.build pyproject.toml $(shell find fortran -name '*.f90') | unsupported
	PATH="$(CURDIR)/$(BIN):$$PATH" FC=$(FC) $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation $(SETUP) -e .
	@touch $@

FORCE:

run: all
	$(BIN)/solfec -y -w $(RUN_INP)
	$(BIN)/python -m solfec.results.plot $(RUN_OUT)
	@echo "results: $(RUN_OUT)"

test: all
	OMP_WAIT_POLICY=passive $(BIN)/python -m pytest -q --numprocesses auto --maxprocesses 8

test-slow: all
	HYPOTHESIS_PROFILE=explore OMP_WAIT_POLICY=passive $(BIN)/python -m pytest -q -m "slow or not slow"

bench: all
	$(BIN)/python benchmarks/run.py

lint: $(VENV)/.packages
	$(BIN)/python -m pip install --quiet --disable-pip-version-check ruff
	$(BIN)/ruff check solfec tests benchmarks

clean:
	rm -rf build $(VENV) .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
