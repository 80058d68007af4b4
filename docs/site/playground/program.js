// Decodes the segments of a workload's program into bytes, as the engine takes them.
function unpackedProgram(workload) {
  return {
    ...workload,
    segments: workload.segments.map(([address, letters]) => [address, bytesOf(letters)]),
  };
}
