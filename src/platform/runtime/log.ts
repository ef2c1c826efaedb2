import { sourceTrace } from './stack-traces.ts';

/** Structured lines on standard error. Callers never pass values that may contain a key or token; see `safeUrl`. */
export interface Log {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** True if lines of this level are written; checked before expensive fields are computed. */
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
  return {
    name: value.name,
    message: value.message,
    stack: value.stack && sourceTrace(value.stack),
    cause: value.cause,
  };
}

/** Parameters whose values may be logged: filters of lists, and nothing that users type or receive. */
const SHOWN = /^(?:_limit|_offset|_sort|id|[a-z_]*_id|status|visible|show_hidden_tags)(?:-[a-z-]+)?$/;

/** The address with the names of all parameters, but only the values of harmless ones. */
export function safeUrl(url: string): string {
  const mark = url.indexOf('?');
  if (mark === -1) return url;
  // A second `?` separates parameters as well, because it may introduce a key.
  const pairs = url.slice(mark + 1).split(/[&?]/);
  return `${url.slice(0, mark)}?${pairs.map(safePair).join('&')}`;
}

function safePair(pair: string): string {
  const equals = pair.indexOf('=');
  if (equals === -1) return /^[\w-]{0,40}$/.test(pair) ? pair : '***';
  const name = pair.slice(0, equals);
  return SHOWN.test(name) ? pair : `${name.slice(0, 60)}=***`;
}
