// The search box of "Coming from PyTorch": names begin as one types them there, or end so.
function searchNames(box, list, count) {
  const words = ['the same', 'differs', 'absent', 'here only'];
  const ask = () => {
    const asked = box.value.trim().replace(/^(torch|taeda)\./, '').toLowerCase();
    list.replaceChildren();
    count.textContent = '';
    if (asked.length < 2) return;
    const rank = name => {
      const low = name.toLowerCase(), last = low.split('.').pop();
      return low === asked ? 0 : last === asked ? 1 : low.endsWith('.' + asked) ? 1
        : low.startsWith(asked) ? 2 : last.startsWith(asked) ? 3 : low.includes(asked) ? 4 : 9;
    };
    const found = NAMES.rows.map(row => [rank(row[0]), row]).filter(([r]) => r < 9);
    found.sort((a, b) => a[0] - b[0] || a[1][0].length - b[1][0].length);
    count.textContent = found.length ? `${found.length} ${found.length === 1 ? "name" : "names"}` : 'No name of either library has these letters.';
    for (const [, [name, status, text, page, anchor]] of found.slice(0, 40)) {
      const item = document.createElement('li'), mark = document.createElement('b');
      mark.textContent = words[status];
      mark.className = 'name-' + status;
      const code = document.createElement('code');
      code.textContent = (status === 3 ? 'taeda.' : 'torch.') + name;
      let shown = code;
      if (NAMES.pages[page]) {
        shown = document.createElement('a');
        shown.href = `${NAMES.pages[page]}#${anchor || 'taeda.' + name}`;
        shown.append(code);
      }
      item.append(mark, ' ', shown);
      if (NAMES.texts[text]) item.append(': ' + NAMES.texts[text]);
      list.append(item);
    }
  };
  box.addEventListener('input', ask);
  const given = new URLSearchParams(location.search).get('name');
  if (given) { box.value = given; ask(); }
}
