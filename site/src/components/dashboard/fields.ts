/** A field of a form, as data: forms are drawn from lists of them, and their requests are read with the same lists. */
export interface Field {
  readonly name: string;
  readonly kind:
    | 'text'
    | 'long'
    | 'number'
    | 'email'
    | 'url'
    | 'colour'
    | 'secret'
    | 'moment'
    | 'yes'
    | 'choice'
    | 'radio'
    | 'bits'
    | 'many'
    | 'lines'
    | 'json'
    | 'id';
  /** The values of a choice, or the bits of a number. */
  readonly options?: readonly (string | number)[];
  readonly required?: boolean;
  /** The name of its texts, if it differs from the name of the field. */
  readonly says?: string;
  /** Left out of the request when it is empty, instead of clearing what is stored. */
  readonly optional?: boolean;
  readonly max?: number;
}

type Value = string | number | boolean | readonly string[] | readonly number[];

/** A field that names what a form is about. */
export const idOf = (name: string): Field => ({ name, kind: 'id' });

const lines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

/** The input of an operation, from what a browser sent. */
export function readFields(form: FormData, fields: readonly Field[]): Record<string, Value> {
  const input: Record<string, Value> = {};
  for (const field of fields) {
    const value = readField(form, field);
    if (value !== undefined) input[field.name] = value;
  }
  return input;
}

function readField(form: FormData, { name, kind, options, optional }: Field): Value | undefined {
  const text = String(form.get(name) ?? '').replaceAll('\r\n', '\n');
  const all = form.getAll(name).map(String);
  if (kind === 'yes') return text === 'true';
  if (kind === 'many') return all;
  if (kind === 'bits') return all.reduce((sum, bit) => sum | Number(bit), Number(form.get(`${name}-rest`) ?? 0));
  if (kind === 'lines') return lines(text);
  if (kind === 'moment') return text === '' ? 0 : Math.floor(Date.parse(`${text}Z`) / 1000);
  const isNumber = kind === 'number' || typeof options?.[0] === 'number';
  if (text === '' && (optional || isNumber || kind === 'secret')) return undefined;
  return isNumber ? Number(text) : text;
}

/** Bits that the form does not offer stay as they are. */
export const restOf = (value: unknown, bits: readonly (string | number)[]): number =>
  Number(value ?? 0) & ~bits.reduce<number>((sum, bit) => sum | Number(bit), 0);

/** What a form shows after it was sent. */
export interface Result {
  /** The form that was sent, where a page has several of one kind. */
  readonly at: string;
  readonly message?: string;
  readonly fields?: Readonly<Record<string, string>>;
  /** What a refused form contained. */
  readonly sent?: Readonly<Record<string, unknown>>;
  readonly done?: boolean;
  /** What the service answered, such as a secret that is shown once. */
  readonly answer?: Readonly<Record<string, unknown>>;
}
