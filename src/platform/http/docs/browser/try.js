// Builds a form from the tables of an operation, shows the request, sends it to this service and shows the answer.
{
  /** Stored only in the memory of this page, and shared by its forms. */
  const credentials = { key: '', token: '', header: '' };
  const CREDENTIALS = {
    key: ['API key', 'key'],
    token: ['Access token', 'token'],
    header: ['Authorization header', 'header'],
  };
  const ASKED = { key: ['key'], token: ['token'], either: ['key', 'token'], header: ['header'] };
  const SHOWN_CHARACTERS = 200_000;
  let count = 0;

  const element = (name, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };

  /** A link marked `data-field` stands for a row that the page shows once for all of its operations. */
  const rowOf = (found) => (found.matches('a') ? document.querySelector(found.hash) : found);

  const fieldsOf = (body) =>
    [...body.querySelectorAll('tr[data-in], a[data-field]')].map(rowOf).map((row) => ({
      name: row.querySelector('code').textContent,
      place: row.dataset.in,
      kind: row.dataset.kind,
      options: row.dataset.options?.split('|'),
      required: row.dataset.in === 'path' || row.querySelector('.required') !== null,
    }));

  const HINTS = { list: 'separated by commas', nested: 'JSON', integer: '', number: '' };

  const control = ({ kind, options, required }) => {
    const choices = options ?? (kind === 'boolean' ? ['true', 'false'] : undefined);
    if (choices)
      return element('select', { required }, ...['', ...choices].map((value) => element('option', { value }, value)));
    if (kind === 'file' || kind === 'files')
      return element('input', { type: 'file', multiple: kind === 'files', required });
    if (kind === 'nested')
      return element('textarea', { rows: 3, required, placeholder: HINTS.nested, spellcheck: false });
    const inputMode = kind === 'integer' || kind === 'number' ? 'numeric' : '';
    return element('input', { type: 'text', required, inputMode, placeholder: HINTS[kind] ?? '', autocomplete: 'off' });
  };

  const labelled = (text, made, required) => {
    count += 1;
    made.id = `try-${count}`;
    const label = element('label', { htmlFor: made.id }, element('code', {}, text));
    if (required) label.append(' ', element('span', { className: 'required' }, 'required'));
    return element('div', { className: 'field' }, label, made);
  };

  const credentialFields = (kinds) =>
    kinds.map((kind) => {
      const [text] = CREDENTIALS[kind];
      const made = element('input', { type: 'password', autocomplete: 'off', value: credentials[kind] });
      made.dataset.credential = kind;
      made.addEventListener('input', () => {
        credentials[kind] = made.value;
        for (const other of document.querySelectorAll(`[data-credential=${kind}].shared`))
          if (other !== made) other.value = made.value;
      });
      made.classList.add('shared');
      return labelled(text, made, false);
    });

  /** Nested values are sent as `name[key]` and `name[0][key]`. */
  const flat = (name, value) => {
    if (Array.isArray(value)) return value.flatMap((each, index) => flat(`${name}[${index}]`, each));
    if (value && typeof value === 'object')
      return Object.entries(value).flatMap(([key, each]) => flat(`${name}[${key}]`, each));
    return [[name, String(value)]];
  };

  const listed = (text) =>
    text
      .split(',')
      .map((each) => each.trim())
      .filter(Boolean);

  const pairsOf = ({ name, kind }, value) => {
    if (kind === 'list') return listed(value).map((each) => [name, each]);
    return kind === 'nested' ? flat(name, JSON.parse(value)) : [[name, value]];
  };

  const jsonOf = (kind, value) => {
    if (kind === 'list') return listed(value);
    return ['nested', 'integer', 'number', 'boolean'].includes(kind) ? JSON.parse(value) : value;
  };

  /** The request for fetch, and its text with masked credentials. */
  const requestOf = ({ method, path, type, credential }, controls) => {
    const filled = controls.filter(({ made }) => (made.type === 'file' ? made.files.length > 0 : made.value !== ''));
    const at = (place) => filled.filter(({ field }) => field.place === place);
    let address = path;
    for (const { field, made } of at('path'))
      address = address.replace(`{${field.name}}`, encodeURIComponent(made.value));
    const query = new URLSearchParams(at('query').flatMap(({ field, made }) => pairsOf(field, made.value)));
    const headers = Object.fromEntries(at('header').map(({ field, made }) => [field.name, made.value]));
    const asked = ASKED[credential];
    const secret = {};
    if (asked.includes('token') && credentials.token) secret.Authorization = `Bearer ${credentials.token}`;
    else if (asked.includes('header') && credentials.header) secret.Authorization = credentials.header;
    else if (asked.includes('key') && credentials.key) secret.key = credentials.key;
    const [body, shownBody] = bodyOf(type, at('body'));
    if (type === 'application/json') headers['Content-Type'] = type;
    const addressWith = (key) => {
      const all = new URLSearchParams([...(key ? [['api_key', key]] : []), ...query]);
      return `/v1${address}${all.size > 0 ? `?${all}` : ''}`;
    };
    const shownHeaders = { ...headers, ...(secret.Authorization && { Authorization: '…' }) };
    const shown = [
      `${method} ${addressWith(secret.key && '…').replace('%E2%80%A6', '…')}`,
      ...Object.entries(shownHeaders).map(([name, value]) => `${name}: ${value}`),
      ...(shownBody ? ['', shownBody] : []),
    ].join('\n');
    const { key, ...authorization } = secret;
    return { url: addressWith(key), shown, options: { method, headers: { ...headers, ...authorization }, body } };
  };

  const bodyOf = (type, filled) => {
    if (!type) return [];
    if (type === 'application/octet-stream') {
      const file = filled[0]?.made.files[0];
      return [file, file && `(${file.size} bytes of ${file.name})`];
    }
    if (type === 'application/json') {
      const fields = filled.map(({ field, made }) => [field.name, jsonOf(field.kind, made.value)]);
      const text = JSON.stringify(Object.fromEntries(fields), null, 2);
      return [text, text];
    }
    const body = type === 'multipart/form-data' ? new FormData() : new URLSearchParams();
    const lines = [];
    for (const { field, made } of filled) {
      const pairs =
        made.type === 'file' ? [...made.files].map((file) => [field.name, file]) : pairsOf(field, made.value);
      for (const [name, value] of pairs) {
        body.append(name, value);
        lines.push(`${name}=${value instanceof File ? `(${value.size} bytes of ${value.name})` : value}`);
      }
    }
    return [body, lines.join('\n')];
  };

  const pretty = (type, text) => {
    if (!type.includes('json')) return text;
    try {
      return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      return text;
    }
  };

  /** Shows the body while it arrives, because event streams do not end. */
  const showBody = async (response, shown) => {
    const type = response.headers.get('content-type') ?? '';
    if (!response.body) return;
    if (!/json|text|xml/.test(type)) {
      const { size } = await response.blob();
      shown.textContent = `(${size} bytes of ${type || 'no type'})`;
      return;
    }
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += part.value;
      shown.textContent = text;
      if (text.length < SHOWN_CHARACTERS) continue;
      await reader.cancel();
      shown.textContent = `${text.slice(0, SHOWN_CHARACTERS)}\n… cut`;
      return;
    }
    shown.textContent = pretty(type, text);
  };

  const send = async ({ url, options }, output, signal) => {
    const status = element('strong', {}, 'Waiting for the answer …');
    output.replaceChildren(status);
    try {
      const response = await fetch(url, {
        ...options,
        signal,
        credentials: 'omit',
        cache: 'no-store',
        redirect: 'manual',
      });
      if (response.type === 'opaqueredirect') {
        status.textContent = 'A redirect, whose address the browser does not show to scripts.';
        return;
      }
      status.textContent = `${response.status} ${response.statusText}`.trim();
      const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
      const body = element('pre', { tabIndex: 0, className: 'answer', ariaLabel: 'Body of the answer' });
      output.append(
        element('pre', { tabIndex: 0, className: 'headers', ariaLabel: 'Headers of the answer' }, headers),
        body,
      );
      await showBody(response, body);
    } catch (error) {
      if (signal.aborted) output.append(element('p', { className: 'note' }, 'Stopped.'));
      else status.textContent = `There was no answer: ${error.message}`;
    }
  };

  const open = (body, holder) => {
    const { method, path, type, credential } = body.dataset;
    const operation = { method, path, type, credential };
    const fields = fieldsOf(body);
    if (type === 'application/octet-stream') fields.push({ name: 'body', place: 'body', kind: 'file', required: true });
    const controls = fields.map((field) => ({ field, made: control(field) }));
    const rows = ({ field, made }) => labelled(field.name, made, field.required);
    const optional = controls.filter(({ field }) => !field.required);
    const preview = element('pre', { tabIndex: 0, className: 'request', ariaLabel: 'Request' });
    const output = element('output', { ariaLive: 'polite' });
    const stop = element('button', { type: 'button', hidden: true }, 'Stop');
    const form = element(
      'form',
      { autocomplete: 'off' },
      element(
        'p',
        { className: 'note' },
        `Sends a real request to ${location.host}. Credentials stay in this page and are forgotten when you leave it.`,
      ),
      ...credentialFields(ASKED[credential]),
      ...controls.filter(({ field }) => field.required).map(rows),
    );
    if (optional.length > 0)
      form.append(element('details', {}, element('summary', {}, `${optional.length} optional`), ...optional.map(rows)));
    form.append(preview, element('div', {}, element('button', { type: 'submit' }, 'Send'), ' ', stop), output);

    const current = () => {
      try {
        return requestOf(operation, controls);
      } catch (error) {
        return { shown: `A field is not valid JSON: ${error.message}` };
      }
    };
    const refresh = () => {
      preview.textContent = current().shown;
    };
    form.addEventListener('input', refresh);
    form.addEventListener('focusin', refresh);
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      refresh();
      const request = current();
      if (!request.url) return;
      const abort = new AbortController();
      stop.onclick = () => abort.abort();
      stop.hidden = false;
      await send(request, output, abort.signal);
      stop.hidden = true;
    });
    refresh();
    holder.replaceChildren(element('h4', {}, 'Try it'), form);
    form.querySelector('input, select, textarea, button').focus();
  };

  for (const body of document.querySelectorAll('.body[data-method]')) {
    const button = element('button', { type: 'button' }, 'Try it');
    button.setAttribute('aria-label', `Try ${body.id}`);
    const holder = element('div', { className: 'try' }, element('h4', {}, 'Try it'), button);
    button.addEventListener('click', () => open(body, holder));
    body.append(holder);
  }
}
