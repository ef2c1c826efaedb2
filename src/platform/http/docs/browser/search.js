// Pages read without this. It searches, opens what an address points at, and follows addresses of the former single page.
{
  const box = document.querySelector('.search');
  const input = box.querySelector('input');
  const panel = box.querySelector('#results');
  const status = panel.querySelector('[role=status]');
  const list = panel.querySelector('ul');
  const SHOWN = 40;
  const PLACES_SHOWN = 6;
  let index;

  const load = () => {
    index ??= fetch(box.dataset.index)
      .then((response) => {
        if (!response.ok) throw new Error(String(response.status));
        return response.json();
      })
      .catch(() => {
        index = undefined;
      });
    return index;
  };

  const base = box.dataset.index.replace(/\/search\.json$/, '');
  const hrefOf = ({ operations, objects }, place) => {
    const operation = operations[place];
    return operation
      ? `${base}/${operation[4]}#${operation[0]}`
      : `${base}/objects#object-${objects[place - operations.length]}`;
  };
  const nameOf = ({ operations, objects }, place) => operations[place]?.[0] ?? objects[place - operations.length];

  /** Every word has to occur. Names that start with the text come first, then names that contain it. */
  const rank = (words, name, ...texts) => {
    const whole = words.join(' ');
    const lower = name.toLowerCase();
    const all = [lower, ...texts].join(' ').toLowerCase();
    if (!words.every((word) => all.includes(word))) return undefined;
    if (lower === whole) return 0;
    if (lower.startsWith(whole)) return 1;
    return lower.includes(whole) ? 2 : 3;
  };

  const find = (data, words) => {
    const found = [];
    const add = (weight, entry) => weight !== undefined && found.push({ weight, ...entry });
    for (const [id, method, path, says, slug] of data.operations)
      add(rank(words, id, method, path, says), { href: `${base}/${slug}#${id}`, title: id, text: `${method} ${path}` });
    for (const [ref, name, message] of data.errors) {
      const byRef = rank(words, String(ref), name, message);
      const byName = rank(words, name, String(ref), message);
      const weight = byRef === undefined ? byName : Math.min(byRef, byName ?? byRef);
      add(weight, { href: `${base}/errors/${ref}#${name}`, title: `${ref} ${name}`, text: message });
    }
    for (const name of data.objects)
      add(rank(words, name), { href: `${base}/objects#object-${name}`, title: name, text: 'Object' });
    for (const [name, places] of Object.entries(data.fields)) {
      const weight = rank(words, name);
      if (weight === undefined) continue;
      // Objects are last in the index and describe a field best.
      for (const place of places.toReversed().slice(0, weight === 0 ? SHOWN : PLACES_SHOWN)) {
        const text = `Field of ${nameOf(data, place)}`;
        found.push({ weight: weight + 0.5, href: hrefOf(data, place), title: name, text });
      }
    }
    return found.sort((one, other) => one.weight - other.weight);
  };

  const show = (found) => {
    list.replaceChildren(
      ...found.slice(0, SHOWN).map(({ href, title, text }) => {
        const item = document.createElement('li');
        const link = document.createElement('a');
        const small = document.createElement('small');
        link.href = href;
        small.textContent = text;
        link.append(title, small);
        item.append(link);
        return item;
      }),
    );
    const more = found.length > SHOWN ? `, the first ${SHOWN} are shown` : '';
    status.textContent = found.length === 0 ? 'Nothing found' : `${found.length} found${more}`;
    panel.hidden = false;
  };

  const search = async () => {
    const words = input.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) {
      panel.hidden = true;
      return;
    }
    const data = await load();
    if (input.value.trim().toLowerCase().split(/\s+/).join(' ') !== words.join(' ')) return;
    if (data) show(find(data, words));
    else {
      list.replaceChildren();
      status.textContent = 'The search index could not be loaded. Try again.';
      panel.hidden = false;
    }
  };

  const close = () => {
    panel.hidden = true;
  };

  box.hidden = false;
  input.addEventListener('focus', load);
  input.addEventListener('input', search);
  box.addEventListener('keydown', (event) => {
    const links = [...list.querySelectorAll('a')];
    const at = links.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && !panel.hidden) {
      event.preventDefault();
      (links[at + step] ?? input).focus();
    } else if (event.key === 'Enter' && document.activeElement === input) links[0]?.click();
    else if (event.key === 'Escape') {
      close();
      input.focus();
    }
  });
  list.addEventListener('click', close);
  document.addEventListener('click', (event) => {
    if (!box.contains(event.target)) close();
  });
  box.addEventListener('focusout', ({ relatedTarget }) => {
    if (relatedTarget && !box.contains(relatedTarget)) close();
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target.closest('input, select, textarea');
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
  });

  const follow = () => {
    const name = decodeURIComponent(location.hash.slice(1));
    if (!name) return;
    const target = document.getElementById(name);
    const isIntroduction = location.pathname === base;
    if (isIntroduction && name.startsWith('object-')) location.replace(`${base}/objects#${name}`);
    else if (isIntroduction && name.startsWith('error-'))
      location.replace(`${base}/errors#${name.slice('error-'.length)}`);
    else if (isIntroduction && target?.closest('.operations')) location.replace(target.querySelector('a').href);
    const entry = target?.closest('details.entry');
    if (entry && !entry.open) {
      entry.open = true;
      target.scrollIntoView();
    }
  };
  addEventListener('hashchange', follow);
  follow();
}
