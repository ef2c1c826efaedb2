/** Reads forms into the fields of the API. */

/** Undefined if the form has no such field. */
export function textOf(form: FormData, name: string): string | undefined {
  const value = form.get(name);
  return typeof value === 'string' ? value : undefined;
}

export const textsOf = (form: FormData, name: string): string[] =>
  form.getAll(name).filter((value): value is string => typeof value === 'string' && value !== '');

export const numbersOf = (form: FormData, name: string): number[] => textsOf(form, name).map(Number);

/** An empty field of a form is a file without a name. */
export const filesOf = (form: FormData, name: string): File[] =>
  form.getAll(name).filter((value): value is File => value instanceof File && value.size > 0);

/** The chosen bits; those that the form does not offer keep their value. */
export function bitsOf(form: FormData, name: string, offered: number, before: number): number {
  const chosen = numbersOf(form, name).reduce((sum, bit) => sum | bit, 0);
  return (before & ~offered) | (chosen & offered);
}

/** Rows of two fields as `key:value`. Rows without a key are left out. */
export function pairsOf(form: FormData, keyName: string, valueName: string): string[] {
  const values = form.getAll(valueName).map(String);
  return form.getAll(keyName).flatMap((key, index) => {
    const name = String(key).trim();
    return name === '' ? [] : [`${name}:${values[index] ?? ''}`];
  });
}

/** `2026-11-17T08:00` of a field for times, in UTC, as Unix seconds; 0 if it is empty. */
export function secondsOf(form: FormData, name: string): number {
  const text = textOf(form, name);
  return text ? Math.floor(Date.parse(`${text}Z`) / 1000) || 0 : 0;
}

/** The value of a field for times. */
export const timeFieldOf = (seconds: number): string =>
  seconds > 0 ? new Date(seconds * 1000).toISOString().slice(0, 16) : '';
