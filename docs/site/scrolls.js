// Makes tables that are wider than the page reachable by the Tab key. The name of a table is that of
// the heading above it.
const sizes = new ResizeObserver(entries => {
  for (const { target } of entries) makeReachable(target);
});
function makeReachable(box) {
  const above = [...document.querySelectorAll('h1, h2, h3, h4')].findLast(
    head => head.compareDocumentPosition(box) & Node.DOCUMENT_POSITION_FOLLOWING,
  );
  const isWide = box.scrollWidth > box.clientWidth;
  box.tabIndex = isWide ? 0 : -1; // -1: a script may still focus it
  box.role = isWide ? 'region' : null;
  box.ariaLabel = isWide ? `table: ${above?.firstChild.textContent}` : null;
}
// Observes the boxes that the theme puts around tables when the page has been loaded.
function observeTables() {
  for (const box of document.querySelectorAll('.md-typeset__scrollwrap')) sizes.observe(box);
}
new MutationObserver(observeTables).observe(document.querySelector('article'), { childList: true });
observeTables();
// the theme gives the dialog no name
document.querySelector('[role="dialog"]').ariaLabel = 'search';
