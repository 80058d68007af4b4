// Makes search work in pages that are opened as files: browsers do not load a worker from a file,
// so the worker is made from its text.
if (location.protocol === 'file:') {
  const Loaded = Worker;
  window.Worker = class extends Loaded {
    constructor() {
      super(URL.createObjectURL(new Blob([SEARCH_WORKER], { type: 'text/javascript' })));
    }
  };
}
