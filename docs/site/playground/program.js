// A workload's program as the engine takes it: the bytes of its segments.
function unpackedProgram(workload) {
  return {
    ...workload,
    segments: workload.segments.map(([address, letters]) => [address, bytesOf(letters)]),
  };
}
