declare module 'virtual:texts' {
  interface Area {
    readonly default: unknown;
    /** What loads the rest of the texts of a section of the dashboards, in a browser. */
    readonly sections?: Readonly<Record<string, () => Promise<{ readonly default: object }>>>;
  }
  interface Language {
    /** The texts of every page. */
    readonly default: unknown;
    readonly areas: Readonly<Record<string, () => Promise<Area>>>;
  }
  const loaders: Readonly<Record<string, () => Promise<Language>>>;
  export default loaders;
}

declare module 'virtual:texts/errors/en' {
  const texts: import('../../.svelte-kit/texts.d.ts').Areas['errors'];
  export default texts;
}
