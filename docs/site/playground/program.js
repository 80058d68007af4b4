// Decodes the memory segments of a workload's program from base64 text to bytes.
function unpackedProgram(workload) {
  return {
    ...workload,
    segments: workload.segments.map(([address, letters]) => [address, bytesOf(letters)]),
  };
}
