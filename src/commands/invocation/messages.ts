import type { Language } from '../../platform/localisation/languages.ts';
import english from '../../platform/localisation/texts/commands/en.json' with { type: 'json' };
import { TextFolder } from '../../platform/localisation/translations.ts';
import { formatPlain } from './plain-messages.ts';

/** A value that is written by the rules of the language: a list of names, alternatives, or a size. */
type Value = string | number | { readonly all: readonly string[] } | { readonly any: readonly string[] } | Size;
interface Size {
  readonly bytes: number;
}

/** What a command says, in no language yet. */
export interface Message {
  readonly name: keyof typeof english;
  readonly values?: Readonly<Record<string, Value>>;
}

/** Puts messages into words, with a space between two. */
export type Words = (...messages: readonly Message[]) => string;

const folder = new TextFolder(
  new URL('../../platform/localisation/texts/commands/', import.meta.url),
  english satisfies Record<Message['name'], string>,
);

export function wordsIn(language: Language): Words {
  const worded = ({ name, values = {} }: Message) => {
    const written = Object.entries(values).map(([key, value]) => [key, toWritten(value, language)]);
    return formatPlain(folder.text(name, language), language, Object.fromEntries(written));
  };
  return (...messages) => messages.map(worded).join(' ');
}

function toWritten(value: Value, language: Language): string | number {
  if (typeof value !== 'object') return value;
  if ('bytes' in value) return sizeOf(value, language);
  return 'all' in value
    ? new Intl.ListFormat(language, { type: 'conjunction' }).format(value.all)
    : new Intl.ListFormat(language, { type: 'disjunction' }).format(value.any);
}

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;

function sizeOf({ bytes }: Size, language: Language): string {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const unitDisplay = step === 0 ? 'long' : 'short';
  const format = { style: 'unit', unit: UNITS[step]!, unitDisplay, maximumFractionDigits: 1 } as const;
  return new Intl.NumberFormat(language, format).format(bytes / 1_000 ** step);
}
