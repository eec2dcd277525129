// SPDX-License-Identifier: BSD-3-Clause
//! driver PORT: rslock by the lines of README.md. A contender is a task of one thread.
use rslock::LockManager;
use std::io::{stdin, stdout, BufRead, Write};
use std::time::Duration;

/// The longest pause between two tries, as it is if nothing is asked for. A try takes the half of it on average, and tries are what limits a wait.
const DELAY: Duration = Duration::from_millis(200);

fn now_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) }, 0);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[derive(Clone)]
struct Play {
    name: String,
    lease: Duration,
    hold: Duration,
    think: Duration,
    end_ns: u64,
}

async fn contend(manager: LockManager, play: Play) -> String {
    let mut lines = String::new();
    loop {
        let asked = now_ns();
        if asked >= play.end_ns {
            return lines;
        }
        let Ok(lock) = manager.lock(play.name.as_str(), play.lease).await else {
            lines += &format!("ended {} {}\n", asked, now_ns());
            continue;
        };
        let granted = now_ns();
        if !play.hold.is_zero() {
            tokio::time::sleep(play.hold).await;
        }
        let releasing = now_ns();
        manager.unlock(&lock).await;
        lines += &format!("grant {} {} {} {}\n", asked, granted, releasing, now_ns());
        if !play.think.is_zero() {
            tokio::time::sleep(play.think).await;
        }
    }
}

/// KIND NAME LEASE_MS HOLD_US THINK_US RUN_MS CONTENDERS WAIT_MS
async fn run(manager: &LockManager, words: &[&str]) -> String {
    let number = |i: usize| words[i].parse::<u64>().expect("a number");
    let play = Play {
        name: words[1].to_string(),
        lease: Duration::from_millis(number(2)),
        hold: Duration::from_micros(number(3)),
        think: Duration::from_micros(number(4)),
        end_ns: now_ns() + number(5) * 1_000_000,
    };
    let mut manager = manager.clone();
    manager.set_retry((number(7) as u32 * 2).div_ceil(DELAY.as_millis() as u32), DELAY);
    let tasks: Vec<_> = (0..number(6)).map(|_| tokio::task::spawn_local(contend(manager.clone(), play.clone()))).collect();
    let mut lines = String::new();
    for task in tasks {
        lines += &task.await.expect("a contender");
    }
    lines + "done\n"
}

/// KIND NAME LEASE_MS
async fn hold(manager: &LockManager, words: &[&str]) -> String {
    let asked = now_ns();
    let lease = Duration::from_millis(words[2].parse().expect("a number"));
    let lock = manager.lock(words[1], lease).await.expect("tries without end");
    let granted = now_ns();
    tell(&format!("granted {granted}\n"));
    stdin().lock().read_line(&mut String::new()).expect("a line");
    let releasing = now_ns();
    manager.unlock(&lock).await;
    format!("grant {} {} {} {}\ndone\n", asked, granted, releasing, now_ns())
}

fn tell(lines: &str) {
    print!("{lines}");
    stdout().flush().expect("a reader");
}

async fn play(port: &str) {
    let mut manager = LockManager::new(vec![format!("redis://127.0.0.1:{port}/")]);
    manager.set_retry(u32::MAX, DELAY);
    tell("ready rslock\n");
    let mut line = String::new();
    while stdin().lock().read_line(&mut line).expect("a line") > 0 {
        let words: Vec<&str> = line.split_whitespace().collect();
        let lines = if words[0] == "run" { run(&manager, &words[1..]).await } else { hold(&manager, &words[1..]).await };
        tell(&lines);
        line.clear();
    }
}

fn main() {
    let port = std::env::args().nth(1).expect("a port");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    tokio::task::LocalSet::new().block_on(&runtime, play(&port));
}
