/** The choices of the profile, named in the language of the page. */
export interface Choice {
  readonly value: string;
  readonly name: string;
}

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
/** Codes that name no country. */
const GROUPS = new Set(['EU', 'EZ', 'QO', 'UN', 'XA', 'XB', 'ZZ']);

const isCurrent = (code: string) => new Intl.Locale(`und-${code}`).region === code && !GROUPS.has(code);

export function countriesIn(language: string): Choice[] {
  const names = new Intl.DisplayNames(language, { type: 'region', fallback: 'none' });
  const order = new Intl.Collator(language);
  return LETTERS.flatMap((first) => LETTERS.map((second) => first + second))
    .filter(isCurrent)
    .flatMap((value) => {
      const name = names.of(value);
      return name === undefined ? [] : [{ value, name }];
    })
    .sort((one, other) => order.compare(one.name, other.name));
}

/** Each language in its own words, so that everyone finds theirs. */
export const languageChoices = (languages: readonly string[]): Choice[] =>
  languages.map((value) => ({
    value,
    name: new Intl.DisplayNames(value, { type: 'language' }).of(value) ?? value,
  }));

export const timezones = (): string[] => Intl.supportedValuesOf('timeZone');
