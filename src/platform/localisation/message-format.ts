import { createRequire } from 'node:module';
import type { IntlMessageFormat } from 'intl-messageformat';
import type { Language } from './languages.ts';

/** What replaces the arguments of a message. */
export type MessageValues = Readonly<Record<string, string | number>>;

/** Loaded with the first message that needs it: most messages are plain text. */
const require = createRequire(import.meta.url);
let library: typeof import('intl-messageformat') | undefined;

const compiled = new Map<string, IntlMessageFormat>();

function compile(text: string, language: Language): IntlMessageFormat {
  const key = `${language} ${text}`;
  const known = compiled.get(key);
  if (known) return known;
  library ??= require('intl-messageformat') as typeof import('intl-messageformat');
  const message = new library.IntlMessageFormat(text, language, undefined, { ignoreTag: true });
  compiled.set(key, message);
  return message;
}

/** The text with its values, by the plural and number rules of the language. A message without values stays as it is. */
export function formatMessage(text: string, language: Language, values: MessageValues | undefined): string {
  if (!values || !text.includes('{')) return text;
  const hasRules = /\{\w+,/.test(text);
  return hasRules ? String(compile(text, language).format(values)) : fill(text, values);
}

function fill(text: string, values: MessageValues): string {
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => String(values[name] ?? placeholder));
}
