// Makes search work in pages that are opened as files. Browsers do not load a worker from a file, so
// the worker is made from its text.
if (location.protocol === 'file:') {
  const OriginalWorker = Worker;
  window.Worker = class extends OriginalWorker {
    constructor() {
      super(URL.createObjectURL(new Blob([SEARCH_WORKER], { type: 'text/javascript' })));
    }
  };
}
