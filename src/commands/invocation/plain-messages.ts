import type { Language } from '../../platform/localisation/languages.ts';
import type { MessageValues } from '../../platform/localisation/message-format.ts';

/**
 * Formats an ICU message that has arguments, numbers, percentages and plurals alone. Commands for authors and players
 * run in a checkout without dependencies, so they cannot use the library; a test compares the two.
 */
export function formatPlain(text: string, language: Language, values: MessageValues): string {
  let at = 0;
  const token = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at = pattern.lastIndex;
    return found?.[1];
  };
  const number = (value: unknown, style: 'decimal' | 'percent' = 'decimal') =>
    new Intl.NumberFormat(language, { style }).format(Number(value));
  const plural = (count: number): string => {
    const forms: Record<string, string> = {};
    for (let form = token(FORM); form !== undefined; form = token(FORM)) {
      forms[form] = words(count);
      token(CLOSE);
    }
    return forms[`=${count}`] ?? forms[new Intl.PluralRules(language).select(count)] ?? forms['other'] ?? '';
  };
  const argument = (): string => {
    const value = values[token(NAME) ?? ''];
    const kind = token(KIND);
    const shown =
      kind === 'plural'
        ? plural(Number(value))
        : kind === 'number'
          ? number(value, token(STYLE) === 'percent' ? 'percent' : 'decimal')
          : String(value);
    token(CLOSE);
    return shown;
  };
  const words = (count?: number): string => {
    let written = '';
    for (; at < text.length && text[at] !== '}'; ) {
      const character = text[at++]!;
      if (character === '{') written += argument();
      else written += character === '#' && count !== undefined ? number(count) : character;
    }
    return written;
  };
  return words();
}

const NAME = /\s*(\w+)\s*/y;
const KIND = /,\s*(plural|number)\s*,?/y;
const STYLE = /\s*(\w+)\s*/y;
const FORM = /\s*(=?\w+)\s*\{/y;
const CLOSE = /\s*(\})/y;
