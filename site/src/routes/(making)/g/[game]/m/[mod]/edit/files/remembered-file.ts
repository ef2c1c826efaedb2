/** Keeps the file of an upload in the browser, because a page that was reloaded cannot read it from the disk again. */

/** Larger files are not copied; the user chooses them again. */
const COPIED_BYTES_MAX = 4_000_000_000;

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open('modstead-uploads', 1);
    request.onupgradeneeded = () => request.result.createObjectStore('files');
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

async function within<T>(mode: IDBTransactionMode, work: (files: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const database = await open();
  try {
    return await new Promise<T>((resolve, reject) => {
      const transaction = database.transaction('files', mode);
      const request = work(transaction.objectStore('files'));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    database.close();
  }
}

const isSame = (one: File, other: File) =>
  one.name === other.name && one.size === other.size && one.lastModified === other.lastModified;

export async function rememberFile(place: string, file: File): Promise<void> {
  const known = await rememberedFile(place);
  if (file.size > COPIED_BYTES_MAX || (known && isSame(known, file))) return;
  await within('readwrite', (files) => files.put(file, place));
}

export const rememberedFile = (place: string): Promise<File | undefined> =>
  within<File | undefined>('readonly', (files) => files.get(place));

export const forgetFile = async (place: string): Promise<void> =>
  void (await within('readwrite', (files) => files.delete(place)));
