#!/bin/sh
# `status.sh ID`: running, success or failed, as Snakemake's cluster-generic executor asks. Written for Slurm.
state=$(squeue --noheader --states=all --jobs="$1" --format=%T 2>&1)
case "$state" in
    COMPLETED) echo success ;;
    PENDING | RUNNING | CONFIGURING | COMPLETING | SUSPENDED | STOPPED | SIGNALING | REQUEUED | RESIZING | STAGE_OUT)
        echo running ;;
    # Forgotten by the controller, some minutes after its end (MinJobAge): it can no longer be said how it ended.
    "" | *"Invalid job id"*) echo failed ;;
    # The controller did not answer: asked again later.
    *error*) echo running ;;
    *) echo failed ;;
esac
