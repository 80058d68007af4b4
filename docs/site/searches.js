// Search in pages opened as files: a browser does not let them load a worker, so it is made from
// its text.
if (location.protocol === 'file:') {
  const Loaded = Worker;
  window.Worker = class extends Loaded {
    constructor() {
      super(URL.createObjectURL(new Blob([SEARCH_WORKER], { type: 'text/javascript' })));
    }
  };
}
