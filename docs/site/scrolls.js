// A table that is wider than its page is reached by Tab, and named by the heading above it.
const sizes = new ResizeObserver(entries => {
  for (const { target } of entries) reach(target);
});
function reach(box) {
  const above = [...document.querySelectorAll('h1, h2, h3, h4')].findLast(
    head => head.compareDocumentPosition(box) & Node.DOCUMENT_POSITION_FOLLOWING,
  );
  const isWide = box.scrollWidth > box.clientWidth;
  box.tabIndex = isWide ? 0 : -1; // a script's focus may stay
  box.role = isWide ? 'region' : null;
  box.ariaLabel = isWide ? `table: ${above?.firstChild.textContent}` : null;
}
// The theme lays tables into such boxes when the page has come.
function look() {
  for (const box of document.querySelectorAll('.md-typeset__scrollwrap')) sizes.observe(box);
}
new MutationObserver(look).observe(document.querySelector('article'), { childList: true });
look();
document.querySelector('[role="dialog"]').ariaLabel = 'search'; // which the theme does not name
