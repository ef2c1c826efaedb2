import type { Language } from './languages.ts';
import german from './texts/de.json' with { type: 'json' };
import english from './texts/en.json' with { type: 'json' };
import spanish from './texts/es.json' with { type: 'json' };
import french from './texts/fr.json' with { type: 'json' };
import japanese from './texts/ja.json' with { type: 'json' };
import chinese from './texts/zh-CN.json' with { type: 'json' };

export type TextName = keyof typeof english;

const texts: Partial<Record<Language, Partial<Record<TextName, string>>>> = {
  de: german,
  es: spanish,
  'es-419': spanish,
  fr: french,
  ja: japanese,
  'zh-CN': chinese,
};

/** A text that is not an error, in the language or in English if there is no translation. */
export function localise(
  name: TextName,
  language: Language,
  values: Readonly<Record<string, string | number>> = {},
): string {
  const text = texts[language]?.[name] ?? english[name];
  return text.replace(/\{(\w+)\}/g, (placeholder, key: string) => String(values[key] ?? placeholder));
}
