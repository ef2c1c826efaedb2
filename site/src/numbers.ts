/** Makes a formatter when it is first used: the first one of a page takes a phone a tenth of a second. */
export function once<Formatter extends object>(make: () => Formatter): () => Formatter {
  let made: Formatter | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const GROUPED_FROM = 1_000;

/** Small counts need no formatter: all languages of the site write them with the same digits. */
export function numbersIn(language: string, options?: Intl.NumberFormatOptions): (value: number) => string {
  const formatter = once(() => new Intl.NumberFormat(language, options));
  return (value) =>
    Number.isInteger(value) && value >= 0 && value < GROUPED_FROM ? `${value}` : formatter().format(value);
}
