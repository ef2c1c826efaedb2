type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

/** Chooses a plural form and puts the formatted number in place of `#`. */
export function pluralsOf(language: string): (count: number, forms: Forms) => string {
  const rules = new Intl.PluralRules(language);
  const numbers = new Intl.NumberFormat(language);
  return (count, forms) => (forms[rules.select(count)] ?? forms.other).replace('#', numbers.format(count));
}
