/** What a part of a file can be sent as. A stream is sent once: it is never retried. */
export type Bytes = Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

/** A file of a form. A `File` brings its name. */
export type Upload = Blob;

/** The parameters that every list has. `_sort` is descending with `-`. */
export interface Listed<Sort extends string> {
  _limit?: number;
  _offset?: number;
  /** Words, of which at least one occurs, whole or as a beginning. */
  _q?: string;
  _sort?: Sort | `-${Sort}`;
  /** Up to three filters, separated by commas, of which one is enough; up to two such groups. */
  or_fields?: readonly string[];
}

/** The filters of a list: its columns, alone or with a suffix such as `-in`. */
export type Filters<Columns> = Partial<Columns> & {
  [Name in keyof Columns & string as `${Name}-${'not' | 'min' | 'max' | 'st' | 'gt'}`]?: Columns[Name];
} & {
  [Name in keyof Columns & string as `${Name}-${'lk' | 'not-lk'}`]?: string;
} & {
  [Name in keyof Columns & string as `${Name}-${'in' | 'not-in'}`]?: readonly Columns[Name][] | string;
} & {
  [Name in keyof Columns & string as `${Name}-bitwise-and`]?: number;
};

/** The input of an operation without parameters. */
export type Empty = Record<never, never>;
