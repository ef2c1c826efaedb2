import type { Language } from './languages.ts';
import { formatMessage, type MessageValues } from './message-format.ts';
import answers from './texts/answers/en.json' with { type: 'json' };
import checks from './texts/checks/en.json' with { type: 'json' };
import mails from './texts/mails/en.json' with { type: 'json' };
import pages from './texts/pages/en.json' with { type: 'json' };
import { TextFolder } from './translations.ts';

export type TextName = keyof typeof answers | keyof typeof checks | keyof typeof mails | keyof typeof pages;

const folder = (area: string) => new URL(`texts/${area}/`, import.meta.url);
const areaOf: Record<string, TextFolder<string>> = {};
for (const [area, english] of Object.entries({ answers, checks, mails, pages })) {
  const texts = new TextFolder<string>(folder(area), english);
  for (const name of Object.keys(english)) areaOf[name] = texts;
}

/** A text whose reader, and so whose language, is not known yet. It can be stored as JSON. */
export interface LaterText {
  readonly name: TextName;
  readonly values?: MessageValues;
}

/** A text that is not an error, in the language or in English if there is no translation. */
export function localise(name: TextName, language: Language, values?: MessageValues): string {
  return formatMessage(areaOf[name]!.text(name, language), language, values);
}

export const localiseLater = ({ name, values }: LaterText, language: Language): string =>
  localise(name, language, values);
