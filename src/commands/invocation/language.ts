import { contentLanguageOf, LANGUAGES, type Language } from '../../platform/localisation/languages.ts';

/** `de_AT.UTF-8@euro` without the encoding and the variant. Undefined for a language without texts. */
export const languageOfLocale = (locale: string): Language | undefined =>
  contentLanguageOf(locale.replace(/[.@].*$/s, ''));

/** The language of the person, chosen as GNU gettext does: the locale C is English, whatever LANGUAGE lists. */
export function languageOfTerminal(env: NodeJS.ProcessEnv): Language {
  const locale = env['LC_ALL'] || env['LC_MESSAGES'] || env['LANG'] || '';
  if (/^(C|POSIX)(\.|$)/.test(locale)) return 'en';
  const wanted = [...(env['LANGUAGE'] ?? '').split(':'), locale];
  return wanted.map(languageOfLocale).find((language) => language !== undefined) ?? 'en';
}

/** The languages that the commands speak. */
export const SPOKEN = LANGUAGES.filter((each) => contentLanguageOf(each) !== undefined);

/** The language for what is wrong with the arguments themselves, which therefore are not parsed yet. */
export function languageOfArguments(args: readonly string[], env: NodeJS.ProcessEnv): Language {
  const at = args.findIndex((argument) => /^--language(=|$)/.test(argument));
  const given = args[at]?.split('=')[1] ?? args[at + 1];
  return (at === -1 ? undefined : languageOfLocale(given ?? '')) ?? languageOfTerminal(env);
}
