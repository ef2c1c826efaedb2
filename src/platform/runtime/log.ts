/** Structured lines on standard error. Values that could hold a key or token are never passed in; see `safeUrl`. */
export interface Log {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** Whether lines of this level are written; asked where the fields of a line are costly. */
  writes(level: Level): boolean;
  flush(): void;
}

type Fields = Record<string, unknown>;
export type Level = 'debug' | 'info' | 'warn' | 'error' | 'off';

const ORDER: Level[] = ['debug', 'info', 'warn', 'error', 'off'];
const FLUSH_MS = 100;
const FLUSH_CHARACTERS = 16_384;

export function createLog(level: Level, write: (text: string) => void): Log {
  let pending = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (!pending) return;
    const text = pending;
    pending = '';
    write(text);
  };
  const written = new Set(ORDER.slice(ORDER.indexOf(level)));
  const writes = (severity: Level) => written.has(severity);
  const line = (severity: Level) => {
    if (!writes(severity)) return () => {};
    return (message: string, fields?: Fields) => {
      pending += `${JSON.stringify({ time: new Date().toISOString(), level: severity, message, ...fields }, asText)}\n`;
      if (pending.length > FLUSH_CHARACTERS || severity === 'error') flush();
      else timer ??= setTimeout(flush, FLUSH_MS).unref();
    };
  };
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error'), writes, flush };
}

function asText(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return { name: value.name, message: value.message, stack: value.stack, cause: value.cause };
}

/** Parameters whose values may stand in a log: what a list was asked, and nothing that anyone typed or was given. */
const SHOWN = /^(?:_limit|_offset|_sort|id|[a-z_]*_id|status|visible|show_hidden_tags)(?:-[a-z-]+)?$/;

/** The address without what must not reach a log: the name of every parameter, the values of harmless ones. */
export function safeUrl(url: string): string {
  const mark = url.indexOf('?');
  if (mark === -1) return url;
  // A second `?` separates as well: it may introduce a key.
  const pairs = url.slice(mark + 1).split(/[&?]/);
  return `${url.slice(0, mark)}?${pairs.map(safePair).join('&')}`;
}

function safePair(pair: string): string {
  const equals = pair.indexOf('=');
  if (equals === -1) return /^[\w-]{0,40}$/.test(pair) ? pair : '***';
  const name = pair.slice(0, equals);
  return SHOWN.test(name) ? pair : `${name.slice(0, 60)}=***`;
}
