/** Errors of the API by field. */
export type FieldErrors = Readonly<Record<string, string>>;

/** Why the API refused a form, as `refused` returns it. */
export interface Problem {
  readonly message: string;
  readonly fields: FieldErrors;
  /** What was sent, so that a page without scripts shows it again. */
  readonly values: Readonly<Record<string, string>>;
}

/** The problem of a page's `form`, whatever else its actions return. */
export function problemOf(form: unknown): Problem | undefined {
  if (!form || typeof form !== 'object' || !('message' in form)) return undefined;
  return { fields: {}, values: {}, ...form } as Problem;
}

/** The API names an item of a list as `tags.0`; a form names the list as `tags[]`. */
const baseOf = (name: string) => name.split(/[[.]/)[0]!;

/** The error of a field, or of an item of it. */
export const fieldError = (fields: FieldErrors | undefined, name: string): string | undefined =>
  fields?.[name] ?? Object.entries(fields ?? {}).find(([field]) => baseOf(field) === baseOf(name))?.[1];

/** The errors that no shown field stands for. */
export const otherErrors = ({ fields }: Problem, shown: readonly string[]): readonly string[] => {
  const known = new Set(shown.map(baseOf));
  return Object.entries(fields).flatMap(([field, text]) => (known.has(baseOf(field)) ? [] : [`${field}: ${text}`]));
};
