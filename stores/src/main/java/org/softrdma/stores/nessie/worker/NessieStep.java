package org.softrdma.stores.nessie.worker;

/** What an operation goes on with when its batch of requests has completed. */
enum NessieStep {
    /** GET: a word. */
    GET_WORD,
    /** GET: an entry. */
    GET_ENTRY,
    /** GET: all words, after a miss. */
    GET_CONFIRM,
    /** A change as published: a word. */
    WORD,
    /** A change as published: the entry that it names. */
    ENTRY,
    /** A change as published: all words, in the end. */
    CONFIRM,
    /** All words of the key. */
    SCAN_WORDS,
    /** The entry that one of them names. */
    SCAN_ENTRY,
    /** The versions of empty slots are counted up. */
    BUMP,
    /** A slot names the own entry. */
    PLACE,
    /** Words of the key are emptied: REMOVE. */
    REMOVE,
    /** An entry that no word names any more is this REMOVE's. */
    CLAIM,
    /** A word that names another entry of the key is emptied. */
    CLEAR,
    /** The own entry is valid. */
    VALIDATE,
    /** The own entry is abandoned. */
    ABANDON,
    /** The own word is emptied. */
    WITHDRAW,
    /** Nodes know which entries nobody uses. */
    NOTICE,
    /** Janitor: an entry in doubt. */
    DOUBT,
    /** Janitor: nobody may place the entry any more. */
    CONDEMN,
    /** Move: the entry of the word that has to move. */
    MOVE_ENTRY,
    /** Move: the words where it could go. */
    MOVE_WORDS,
    /** Move: the word is marked; as published, its entry is copied. */
    MOVE_MARK,
    /** Move: another slot names the entry. */
    MOVE_PLACE,
    /** Move: the word is emptied, or its mark is gone. */
    MOVE_CLEAR,
    /** Move, as published: the other slot is restored. */
    MOVE_RESTORE,
    /** Move, as published: the copy is valid. */
    MOVE_VALIDATE
}
