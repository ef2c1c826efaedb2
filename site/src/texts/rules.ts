import { numbersIn, once } from '../numbers.ts';

type Forms = Readonly<Record<string, () => string>>;

/** How a language chooses among the forms of a message. Compiled messages call it. */
export interface Rules {
  number(value: number): string;
  plural(count: number, forms: Forms, isOrdinal?: boolean): string;
  select(value: string | number, forms: Forms): string;
}

const known = new Map<string, Rules>();

export function rulesOf(language: string): Rules {
  const rules = known.get(language) ?? makeRules(language);
  known.set(language, rules);
  return rules;
}

function makeRules(language: string): Rules {
  const cardinals = once(() => new Intl.PluralRules(language));
  const ordinals = once(() => new Intl.PluralRules(language, { type: 'ordinal' }));
  const choose = (forms: Forms, form: string) => (forms[form] ?? forms['other']!)();
  return {
    number: numbersIn(language),
    plural(count, forms, isOrdinal) {
      const exact = forms[`=${count}`];
      return exact ? exact() : choose(forms, (isOrdinal ? ordinals : cardinals)().select(count));
    },
    select: (value, forms) => choose(forms, `${value}`),
  };
}
