declare module 'virtual:texts' {
  interface Language {
    /** The texts of every page. */
    readonly default: unknown;
    readonly areas: Readonly<Record<string, () => Promise<{ readonly default: unknown }>>>;
  }
  const loaders: Readonly<Record<string, () => Promise<Language>>>;
  export default loaders;
}

declare module 'virtual:texts/errors/en' {
  const texts: import('../../.svelte-kit/texts.d.ts').Areas['errors'];
  export default texts;
}
