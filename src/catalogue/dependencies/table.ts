declare module '../../platform/database/database.ts' {
  interface Tables {
    mod_dependencies: ModDependenciesTable;
  }
}

/** `mod_id` needs `dependency_id`; both are mods of one game, and no chain leads back to where it began. */
interface ModDependenciesTable {
  mod_id: number;
  dependency_id: number;
  date_added: number;
}
