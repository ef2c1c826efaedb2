import type { ApiError } from '../../platform/errors/catalogue.ts';
import { errorMessage, validationMessage } from '../../platform/errors/messages.ts';
import type { Language } from '../../platform/localisation/languages.ts';

/** The characters that RFC 6749 allows in `error_description` (section 5.2). */
const ALLOWED = /^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/;
const FORBIDDEN = /[^\x20-\x21\x23-\x5b\x5d-\x7e]/g;

/** The description of an error in this language if its text is ASCII, otherwise in English. */
export function oauthDescription(error: ApiError, language: Language): string {
  const text = asciiQuotes(textOf(error, language));
  return ALLOWED.test(text) ? text : asciiQuotes(textOf(error, 'en')).replace(FORBIDDEN, '');
}

const asciiQuotes = (text: string): string => text.replace(/[‘’“”„«»"]/g, "'").replace(/[\u00a0\u202f]/g, ' ');

/** Names the wrong parameters, and the violated rule if there is one. */
function textOf({ error, values, fields = [] }: ApiError, language: Language): string {
  const named = fields.map(({ field, rule, values: more }) => ({ field: parameter(field), rule, values: more }));
  if (named.length > 0 && (error === 'OAUTH_INVALID_REQUEST' || error === 'VALIDATION_GENERIC'))
    return named
      .map(({ field, rule, values: more }) => validationMessage(rule, language, { field, ...more }))
      .join(' ');
  const names = named.map(({ field }) => field).join(', ');
  return `${errorMessage(error, language, values)}${names && ` (${names})`}`;
}

/** Names of unknown parameters come from the client and may contain anything. */
const parameter = (name: string): string => name.replace(/[^\w.[\]-]/g, '');
