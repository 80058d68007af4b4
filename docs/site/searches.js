// Search in pages that are files: a browser lets those load no worker, so it is made of its text.
if (location.protocol === 'file:') {
  const Loaded = Worker;
  window.Worker = class extends Loaded {
    constructor() {
      super(URL.createObjectURL(new Blob([SEARCH_WORKER], { type: 'text/javascript' })));
    }
  };
}
