import type { Language } from '../localisation/languages.ts';
import { formatMessage, type MessageValues } from '../localisation/message-format.ts';
import { TextFolder } from '../localisation/translations.ts';
import type { ErrorName, ValidationRule } from './catalogue.ts';
import errors from './messages/errors/en.json' with { type: 'json' };
import validation from './messages/validation/en.json' with { type: 'json' };

const errorTexts = new TextFolder<ErrorName>(new URL('messages/errors/', import.meta.url), errors);
const validationTexts = new TextFolder<ValidationRule>(new URL('messages/validation/', import.meta.url), validation);

/** The text of an error in the language, or in English if there is no translation. */
export const errorMessage = (error: ErrorName, language: Language, values?: MessageValues): string =>
  formatMessage(errorTexts.text(error, language), language, values);

/** The text of a validation rule in the language, or in English if there is no translation. */
export const validationMessage = (rule: ValidationRule, language: Language, values?: MessageValues): string =>
  formatMessage(validationTexts.text(rule, language), language, values);
