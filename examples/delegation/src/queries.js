// Every question goes to the database, every time.
export async function userById(db, id) {
  const rows = await db.query('select * from users where id = ?', [id]);
  return rows[0];
}

export async function rename(db, id, name) {
  await db.query('update users set name = ? where id = ?', [name, id]);
}
