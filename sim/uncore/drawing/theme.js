// The button #theme switches between dark and light. At first, the setting of the system is used.
const isDark = () => document.documentElement.classList.contains('dark');
function theme(dark) {
  document.documentElement.classList.toggle('dark', dark);
  document.documentElement.classList.toggle('light', !dark);
  document.getElementById('theme').textContent = dark ? 'light' : 'dark';
}
document.getElementById('theme').addEventListener('click', () => theme(!isDark()));
theme(matchMedia('(prefers-color-scheme: dark)').matches);
