import type { Language } from '../localisation/languages.ts';
import type { ErrorName, MessageValues, ValidationRule } from './catalogue.ts';
import german from './messages/de.json' with { type: 'json' };
import english from './messages/en.json' with { type: 'json' };
import spanish from './messages/es.json' with { type: 'json' };
import french from './messages/fr.json' with { type: 'json' };
import japanese from './messages/ja.json' with { type: 'json' };
import germanValidation from './messages/validation/de.json' with { type: 'json' };
import englishValidation from './messages/validation/en.json' with { type: 'json' };
import spanishValidation from './messages/validation/es.json' with { type: 'json' };
import frenchValidation from './messages/validation/fr.json' with { type: 'json' };
import japaneseValidation from './messages/validation/ja.json' with { type: 'json' };
import chineseValidation from './messages/validation/zh-CN.json' with { type: 'json' };
import chinese from './messages/zh-CN.json' with { type: 'json' };

type Texts<Key extends string> = Partial<Record<Language, Partial<Record<Key, string>>>>;

const errorTexts: Texts<ErrorName> = {
  de: german,
  es: spanish,
  'es-419': spanish,
  fr: french,
  ja: japanese,
  'zh-CN': chinese,
};

const validationTexts: Texts<ValidationRule> = {
  de: germanValidation,
  es: spanishValidation,
  'es-419': spanishValidation,
  fr: frenchValidation,
  ja: japaneseValidation,
  'zh-CN': chineseValidation,
};

/** The text of an error in the language, or in English if there is no translation. */
export function errorMessage(error: ErrorName, language: Language, values?: MessageValues): string {
  return fill(errorTexts[language]?.[error] ?? english[error], values);
}

/** The text of a validation rule in the language, or in English if there is no translation. */
export function validationMessage(rule: ValidationRule, language: Language, values?: MessageValues): string {
  return fill(validationTexts[language]?.[rule] ?? englishValidation[rule], values);
}

function fill(text: string, values: MessageValues | undefined): string {
  if (!values) return text;
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => String(values[name] ?? placeholder));
}
