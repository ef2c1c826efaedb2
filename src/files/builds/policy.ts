/** A studio’s programs contain more files than mods. */
export const BUILD_POLICY = { entriesMax: 1_000_000, directoryBytesMax: 256 * 1024 ** 2 };
