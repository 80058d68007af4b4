// Lets Tab reach a table that is wider than its page, and names it after the heading above it.
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
// Finds the boxes that the theme puts around tables after it has loaded the page.
function look() {
  for (const box of document.querySelectorAll('.md-typeset__scrollwrap')) sizes.observe(box);
}
new MutationObserver(look).observe(document.querySelector('article'), { childList: true });
look();
document.querySelector('[role="dialog"]').ariaLabel = 'search'; // the theme gives it no name
