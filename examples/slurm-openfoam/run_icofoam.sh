#!/bin/sh
# An OpenFOAM case from nothing: writes it into the job's own work directory, meshes it and solves it. The flow in a
# square box of side 1 m whose lid slides at 1 m/s. The arguments are numbers that the tool's schema has checked.
set -eu
reynolds=${TAILRACE_ARG_REYNOLDS:-100} cells=${TAILRACE_ARG_CELLS:-60} endTime=${TAILRACE_ARG_ENDTIME:-4}
for program in blockMesh icoFoam; do
  command -v "$program" >/dev/null && continue
  echo "run_icofoam: no $program on $(uname -n): install OpenFOAM there, or load it with options.modules" >&2
  exit 127
done
nu=$(awk "BEGIN { printf \"%.12g\", 1 / $reynolds }")
# The lid crosses half a cell in a step.
deltaT=$(awk "BEGIN { printf \"%.12g\", 0.5 / $cells }")

mkdir -p 0 constant system
# file CLASS PATH: an OpenFOAM file of that class, its entries from stdin
file() {
  {
    printf 'FoamFile\n{\n    version 2.0;\n    format ascii;\n    class %s;\n    object %s;\n}\n' "$1" "${2##*/}"
    cat
  } >"$2"
}

file dictionary system/controlDict <<FOAM
application icoFoam;
startFrom startTime;
startTime 0;
stopAt endTime;
endTime $endTime;
deltaT $deltaT;
writeControl runTime;
writeInterval $endTime;
FOAM
file dictionary system/fvSchemes <<'FOAM'
ddtSchemes { default Euler; }
gradSchemes { default Gauss linear; }
divSchemes { default none; div(phi,U) Gauss linear; }
laplacianSchemes { default Gauss linear orthogonal; }
interpolationSchemes { default linear; }
snGradSchemes { default orthogonal; }
FOAM
file dictionary system/fvSolution <<'FOAM'
solvers
{
    p { solver PCG; preconditioner DIC; tolerance 1e-7; relTol 0.02; }
    pFinal { $p; relTol 0; }
    U { solver smoothSolver; smoother symGaussSeidel; tolerance 1e-7; relTol 0; }
}
PISO { nCorrectors 2; nNonOrthogonalCorrectors 0; pRefCell 0; pRefValue 0; }
FOAM
file dictionary system/blockMeshDict <<FOAM
vertices
(
    (0 0 0) (1 0 0) (1 1 0) (0 1 0)
    (0 0 0.1) (1 0 0.1) (1 1 0.1) (0 1 0.1)
);
blocks ( hex (0 1 2 3 4 5 6 7) ($cells $cells 1) simpleGrading (1 1 1) );
boundary
(
    lid { type wall; faces ((3 7 6 2)); }
    walls { type wall; faces ((0 4 7 3) (2 6 5 1) (1 5 4 0)); }
    sides { type empty; faces ((0 3 2 1) (4 5 6 7)); }
);
FOAM
file dictionary constant/transportProperties <<FOAM
nu [0 2 -1 0 0 0 0] $nu;
FOAM
file volVectorField 0/U <<'FOAM'
dimensions [0 1 -1 0 0 0 0];
internalField uniform (0 0 0);
boundaryField
{
    lid { type fixedValue; value uniform (1 0 0); }
    walls { type noSlip; }
    sides { type empty; }
}
FOAM
file volScalarField 0/p <<'FOAM'
dimensions [0 2 -2 0 0 0 0];
internalField uniform 0;
boundaryField
{
    lid { type zeroGradient; }
    walls { type zeroGradient; }
    sides { type empty; }
}
FOAM

blockMesh >log.blockMesh 2>&1 || {
  tail -n 20 log.blockMesh >&2
  exit 1
}
# Its log is the job's log. When the job is to stop, Slurm tells every process of it.
icoFoam
last=$(ls -d [0-9]* | sort -g | tail -n 1)
mkdir -p fields
cp "$last/U" "$last/p" fields/
printf '{"cells": %s, "finalTime": %s, "batchJob": "%s"}\n' "$cells" "$last" "${SLURM_JOB_ID:-none}" >result.json
