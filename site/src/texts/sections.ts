const SECTION = /^\/(?:\(making\)\/.+|(?:g\/\[game\]\/)?[\w-]+(?:\/(?:money\/)?[\w-]+)?)/;

/**
 * The section of the dashboards, or of what authors edit, that a route belongs to. Its pages share what they load of the
 * texts of their areas: `g-game-admin-rules` is that of `/g/[game]/admin/rules/[rule]`.
 */
export const sectionOf = (route: string): string => (SECTION.exec(route)?.[0] ?? '').match(/\w+/g)?.join('-') ?? '';
